"""What walls say, in the languages they say it in: titles and headings (whole), and sentences in the text.

Titles are compared by whole segment ("Access denied | Shop" has the segment "access denied"), so an article
*about* denied access does not fit. Weights: a page with status 2xx needs 4 points on little text; a title alone
never has 4, a sentence has 4 only if nothing but a wall says it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .expression import Expression

__all__ = [
    "EXPLAINING",
    "JS_REQUIRED",
    "LOGIN_URL",
    "NOT_FOUND_TEXT",
    "NOT_FOUND_TITLE",
    "SENTENCES",
    "SEPARATOR",
    "TITLES",
    "Phrase",
]

#: Between the parts of a title: a bar, a dash with blanks, a bullet. Not a colon, which articles use.
SEPARATOR = re.compile(r"\s+[-–—|·•»«/]+\s+|\s*[|·•»«—–]\s*|\s+::\s+")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Points for a kind of wall; `pattern` is matched whole for titles, searched for sentences."""

    kind: str
    weight: int
    pattern: Expression


def _phrase(kind: str, weight: int, *alternatives: str) -> Phrase:
    # Whole words only: "no such app" is a hoster's error, "no such applications" is prose. Scripts of East
    # Asia put no blanks between words: none is asked for there.
    joined = "|".join(f"(?:{one})" for one in alternatives)
    letter = r"[^\W\u2e80-\U0010ffff]"
    return Phrase(kind, weight, Expression(rf"(?<!{letter})(?:{joined})(?!{letter})"))


_END = r"[\s.!?…:]*"


def _title(kind: str, weight: int, *alternatives: str) -> Phrase:
    joined = "|".join(f"(?:{one})" for one in alternatives)
    return Phrase(kind, weight, Expression(rf"(?:{joined}){_END}"))


NOT_FOUND_TITLE = _title(
    "soft_404",
    3,
    r"(http )?(error|status)?:? ?404( error)?([ :,\-–]*(page|file|seite|erreur|error)?,? ?(was )?(not|nicht|non) (be )?(found|gefunden|trouvée?))?",
    r"(oops|sorry|uh oh|whoops)?[,!.]? ?(404[ :\-–]*)?(the |this |that |your )?(requested |web ?)?(page|file|url|resource|content|document|product|article|item|listing|post|job) ?(you (requested|are looking for|were looking for) )?(was |is |has |could |can |can't |cannot |does |doesn't |do )?(not |n't )?(be |been )?(found|exist|exists|available|removed|deleted|unavailable|no longer (available|exists?))",
    r"page (not found|missing|unavailable|does not exist|doesn't exist)",
    r"(sorry, )?(this|that|the) page (isn't|is not|is no longer) available",
    r"not found|nothing (was )?found( here)?|oops! that page can't be found|we can't find (that|the) page( you're looking for)?|content (not found|unavailable)",
    r"(diese |die )?(angeforderte )?seite (wurde |konnte )?(leider )?nicht (gefunden|verfügbar|vorhanden)( werden)?|(die )?seite existiert nicht( mehr)?|nicht gefunden|fehler 404",
    r"(cette |la )?page (demandée )?(est )?(non trouvée|introuvable|inexistante)|(cette |la )?page n'existe (pas|plus)|erreur 404|page d'erreur",
    r"(la )?página (solicitada )?no (encontrada|existe|disponible|se encuentra|se encontró|ha sido encontrada)|no se (encontró|ha encontrado|encuentra) la página|error 404",
    r"(a )?página (solicitada )?não (foi )?(encontrada|existe|localizada)|erro 404",
    r"(la )?pagina (richiesta )?non (è stata )?(trovata|esiste|disponibile)|errore 404",
    r"(de )?pagina (is )?(niet (gevonden|beschikbaar)|bestaat niet( meer)?)|fout 404",
    r"(запрошенная )?страница (была )?(не (найдена|существует)|удалена)|ошибка 404|сторінку не знайдено|сторінка не (знайдена|існує)",
    r"(ta |podana )?strona (nie (została )?(znaleziona|istnieje)|o podanym adresie nie istnieje)|nie znaleziono( strony)?|błąd 404",
    r"sidan (hittades inte|kunde inte hittas|finns inte)|siden (ble |blev )?(ikke (funnet|fundet)|finnes ikke|findes ikke)|sivua ei löyt\w+",
    r"sayfa bulunamadı|aradığınız sayfa bulunamadı|stránka (nebyla )?(nenalezena|nalezena|neexistuje)|az oldal nem található|pagina nu (a fost găsită|există)|η σελίδα δεν βρέθηκε",
    r"(お探しの)?ページ(が|は)?(見つかりません(でした)?|存在しません)|页面(不存在|未找到|找不到|没有找到)|找不到(该)?(页面|網頁|頁面|网页)|(很)?抱歉[,，]?.{0,8}页面.{0,10}|頁面不存在|(요청하신 )?페이지를 찾을 수 없습니다",
    r"الصفحة غير موجودة|(الصفحة )?لم يتم العثور( على الصفحة)?|הדף לא נמצא|ไม่พบหน้า\S*|không tìm thấy trang|trang không tồn tại|halaman tidak ditemukan",
)

NOT_FOUND_TEXT = _phrase(
    "soft_404",
    3,
    r"(page|url|product|item|article|content|file|document|resource|listing|address) (that )?(you( are|'re| were)? ?(looking for|requested|request|tried to reach|trying to (reach|access|view|find))|requested)\b.{0,60}?(not (be )?found|can't be found|cannot be found|n't be found|does not exist|doesn't exist|not exist|no longer (exists|available|here)|has been (removed|deleted|moved)|isn't (here|available)|is not available|unavailable)",
    r"(we|sorry,? (but )?we) (could not|couldn't|can't|cannot|were unable to|are unable to) find (the|that|this|your) (page|url|product|item|content|article)",
    r"(the|this|that) (page|url|product|listing|content) (does not|doesn't|no longer) exists?\b|requested (url|page|resource|file) .{0,80}was not found( on this server)?",
    r"seite (existiert|gibt es) (leider )?nicht( mehr)?|seite .{0,40}(wurde|konnte) (leider )?nicht gefunden|seite .{0,40}(leider )?nicht (mehr )?(vorhanden|verfügbar|gefunden)",
    r"page .{0,60}(n'existe (pas|plus)|est introuvable|n'a pas (pu être|été) trouvée|a été (supprimée|déplacée))",
    r"página .{0,60}(no existe|no (se ha|ha sido|pudo ser|se pudo|se) encontr\w+|no está disponible|ha sido eliminada)|no hemos (podido )?encontra\w+ la página",
    r"página .{0,60}(não (existe|foi encontrada|está disponível|pôde ser)|foi removida)",
    r"pagina .{0,60}(non (esiste|è stata trovata|è disponibile|è più)|è stata (rimossa|eliminata))",
    r"pagina .{0,60}(bestaat niet|niet (worden )?gevonden|niet (meer )?beschikbaar)",
    r"страниц\w+ .{0,60}(не (существует|найдена|нашли)|удалена|перемещена)|сторінк\w+ .{0,60}не (існує|знайдено)",
    r"stron\w+ .{0,60}(nie (istnieje|została znaleziona)|została usunięta)",
    r"sidan .{0,60}(finns inte|kunde inte hittas)|siden .{0,60}(ikke (funnet|fundet)|finnes ikke|findes ikke|eksisterer ikke)|sivua ei löyt|sayfa .{0,40}(bulunamadı|mevcut değil)",
    r"ページ.{0,30}(見つかりません|存在しません|削除された|移動)|页面.{0,12}(不存在|找不到|已删除|已被删除|不见了)|페이지를 찾을 수 없|페이지가 존재하지",
)

TITLES: tuple[Phrase, ...] = (
    _title(
        "challenge",
        3,
        r"just a moment|one moment,? please|please wait|checking (your|the) browser( before accessing.*)?|ddos-guard|ddos protection.*|attention required! \| cloudflare",
        r"security (checkpoint|verification)|client challenge|browser (check|verification|validation)|verifying( your browser| connection| you are human)?|making sure you're not a bot!?|pardon (our|the|this) interruption|challenge (page|validation)",
        r"nur einen moment|einen moment( bitte)?|un instant|un moment|un momento|um momento|momento|even geduld|один момент|подождите.*|minutku|bir dakika|chwileczkę|お待ちください|しばらくお待ちください|请稍候|请稍等|잠시만 기다(려|리)\S*",
        r"sicherheitsüberprüfung|sicherheitscheck|vérification (de sécurité|du navigateur|en cours)|comprobación de seguridad|verificación de seguridad|verificação de segurança|verifica di sicurezza|проверка (браузера|безопасности)|安全(检查|验证|检测)|安全チェック",
    ),
    _title(
        "captcha",
        3,
        r"human verification|robot check|bot check|you (are|may be) (a )?robot|security check( required)?|(please )?verify (that )?(you are|you're|your) (a )?(human|identity|not a (ro)?bot)|(please )?prove (that )?you('re| are) (a )?human|captcha (required|challenge|verification|interception)|one more step|verification required|unusual traffic( detected)?|before (you|we) continue\.*",
        r"вы не робот\??|подтвердите, что .{0,40}робот|bist du ein (mensch|roboter)|sind sie (ein )?(mensch|roboter)|êtes-vous (un )?(humain|robot)|¿?eres (un )?(humano|robot)|você é (um )?(humano|robô)|sei (un )?(umano|robot)|验证码(拦截)?|人机验证|滑动验证|访问验证|ロボットではないことの確認|보안 확인",
    ),
    _title(
        "hard_block",
        3,
        r"(error )?(403[ :\-–]*)?access (to this (page|site|website|resource) )?(has been |is |was )?(denied|blocked|restricted|forbidden)|(sorry, )?you (have been|are|were|'ve been) (blocked|banned|denied)( from .*)?|(your )?(request|connection|ip|ip address|access|visit) (has been |was |is )?(blocked|rejected|banned|denied)|request (rejected|blocked|denied|unsuccessful)|not acceptable|no hacking|web ?page blocked!?|website (blocked|firewall)|security (violation|incident|alert|block)|bot (detected|blocked)|forbidden by (policy|firewall|administrative rules)|firewall( (alert|block|notice))?|suspicious activity( detected)?|attack detected|the request is blocked|unauthorized (activity|request|access)( (has been )?(detected|blocked))?",
        r"zugriff (verweigert|gesperrt|blockiert)|zugang (verweigert|gesperrt)|accès (refusé|bloqué|interdit)|acceso (denegado|bloqueado|restringido|prohibido)|acesso (negado|bloqueado)|accesso (negato|bloccato|vietato)|toegang (geweigerd|geblokkeerd)|доступ (запрещ[её]н|ограничен|заблокирован)|dostęp (zabroniony|zablokowany)|odmowa dostępu|erişim (engellendi|reddedildi)|åtkomst nekad|adgang nægtet|访问(被拒绝|被拦截|被阻断|受限|拒绝|禁止)|拒绝访问|アクセスが(拒否|禁止|制限)\S*|접근이? ?(거부|차단)\S*",
    ),
    _title(
        "rate_limit",
        3,
        r"(error )?(429[ :\-–]*)?too many (requests|attempts)|(error |http )?429( error)?|(you are being |you have been )?rate.?limit(ed)?( exceeded| reached)?|request limit (exceeded|reached)|slow down|quota exceeded|too fast",
        r"zu viele anfragen|trop de requêtes|demasiadas (solicitudes|peticiones)|muitas (solicitações|requisições)|troppe richieste|te veel (verzoeken|aanvragen)|слишком много запросов|za dużo (żądań|zapytań)|zbyt wiele (żądań|zapytań)|çok fazla istek|访问(过于|太)频繁|请求(过于|太)频繁|请求过多|リクエストが多すぎます|요청이 너무 많습니다",
    ),
    _title(
        "geo_block",
        3,
        r"(this )?(content |site |service |page |website |video )?(is )?(not available|unavailable|isn't available|blocked|restricted) (in|from) your (country|region|location|area|territory)|(451[ :\-–]*)?unavailable (for|due to) legal reasons|(http )?(error )?451|geo.?(block(ed)?|restrict(ed|ion))|(region|country|location) (blocked|restricted|not supported|unavailable)",
        r"in (ihrem|deinem) land nicht verfügbar|nicht verfügbar in (ihrer|deiner) region|non disponible dans votre (pays|région)|no disponible en (tu|su) (país|región|ubicación)|não disponível (no seu país|na sua região)|non disponibile nel (tuo|suo) paese|недоступно в (вашей стране|вашем регионе)",
    ),
    _title(
        "login_wall",
        3,
        r"(please )?(log|sign) ?in( or (sign|register|create|join).{0,30})?( to .{1,60})?|login( required| page)?|(you must|you need to) (be logged|log|sign) in.{0,40}|(members|subscribers|employees) only|authentication required|authorization required|(401[ :\-–]*)?unauthorized|session expired|account (login|sign ?in)|join .{1,30} (today|now) .{0,30}|(single sign.?on|sso)",
        r"(bitte )?(anmelden|einloggen|anmeldung( erforderlich)?)|(bitte )?melden sie sich an.{0,40}|(se )?connecter|connexion( requise)?|identifiez-vous|connectez-vous.{0,40}|iniciar sesión|inicia sesión.{0,40}|acceder|acceso (de )?usuarios|iniciar sessão|fazer login|entrar|faça login.{0,40}|accedi|accesso (utente|richiesto)|effettua (il login|l'accesso).{0,40}|inloggen|log in om.{0,40}|logga in|logg inn|log ind|kirjaudu( sisään)?|zaloguj( się)?|logowanie|вход( на сайт| в систему)?|войти|войдите.{0,40}|авторизация|увійти|вхід|přihlášení|bejelentkezés|autentificare|giriş( yap)?|(用户|会员)?登录|請登入|登入|ログイン|로그인|تسجيل الدخول",
    ),
    _title(
        "consent_wall",
        3,
        r"before you continue( to .*)?|we (value|respect|care about) your privacy|your privacy( choices| matters| is important to us)?|privacy (settings|choices|preferences|gate)|(cookie|privacy) (consent|wall|notice|preferences|settings)( required)?|consent( required| page| management)?|manage (your )?consent|accept cookies( to continue)?|cookies? required",
        r"bevor (sie|du) (fortf\w+|weiter\w*|zu .*)|datenschutz(einstellungen|-einstellungen)|wir schätzen (ihre|deine) privatsphäre|(ihre|deine) (privatsphäre|einwilligung).{0,30}|zustimmung erforderlich|cookie-?einstellungen|avant (de continuer|d'accéder).{0,40}|(nous respectons )?votre vie privée.{0,30}|gestion des cookies|antes de continuar.{0,40}|(tu|su) privacidad.{0,30}|valoramos (tu|su) privacidad|prima di continuare.{0,40}|la (tua|vostra) privacy.{0,30}|voordat (je|u) (verdergaat|verder gaat|doorgaat).{0,40}|(jouw|uw) privacy.{0,30}|cookiemuur",
    ),
    _title(
        "queue",
        3,
        r"you are (now )?in (the |a )?(queue|line)|virtual (queue|line|waiting room)|queue-it|please wait in line|you're (now )?in (the )?(line|queue)|you are (next )?in (line|the queue)",
        r"virtueller warteraum|(sie sind|du bist) in der warteschlange|(file|salle) d'attente virtuelle|(sala de espera|cola|fila) virtual|(sala d'attesa|coda) virtuale|virtuele wachtrij|виртуальная очередь|排队中",
    ),
    _title(
        "maintenance",
        3,
        r"(site |website |system |server |page |service |we are |we're |currently )?(is )?(currently )?((down for |under(going)? |in |offline for )(scheduled |planned |routine |site |system |website )?maintenance|(scheduled |planned |routine |site |system |website )?maintenance (mode|break|page|in progress|work|underway)|(scheduled|planned|site|system|website|server) maintenance)|(we('ll| will) be |be )(right )?back( soon| shortly| later)?|temporarily (unavailable|closed|offline|down)( for maintenance)?|(site|service|website) (is )?(temporarily )?(unavailable|offline|down)|(503[ :\-–]*)?service (temporarily )?unavailable",
        r"wartung(sarbeiten|smodus|sseite)|wir sind (gleich|bald|in kürze) (wieder da|zurück)|(site |page )?en (cours de )?maintenance|maintenance en cours|(sitio |página |web )?en mantenimiento|mantenimiento( programado)?|(sito |pagina )?in manutenzione|(site |página )?em manutenção|(site )?in onderhoud|onderhoudswerkzaamheden|(ведутся )?(технические|профилактические|техническ\w+) работы|техническое обслуживание|сайт на (реконструкции|обслуживании)|przerwa techniczna|prace (techniczne|konserwacyjne)|underhåll|vedligeholdelse|vedlikehold|bakım( çalışması)?|(ただいま)?メンテナンス中?(です)?|(系统|网站)?维护中?|(시스템|서버)? ?점검 ?중?",
    ),
    _title(
        "parked",
        3,
        r"(this |the )?(domain|website|site)( name)? (is )?(for sale|parked|expired|available|has expired|may be for sale)|buy this domain|parked domain( name)?|domain (parking|default|expired|suspended)|\S+\.\w{2,} (is for sale|domain name is for sale|is parked|- domain for sale|steht zum verkauf)|expired domain|hugedomains.*",
        r"(diese )?domain (steht|ist) (zum verkauf|zu verkaufen|geparkt|reserviert)|(ce )?(nom de )?domaine (est )?(à vendre|en vente|expiré)|(este )?dominio (está )?(en venta|a la venta|expirado|aparcado)|(este )?domínio (está )?à venda|(questo )?dominio (è )?in vendita|(dit |deze )?domein\w* (is )?te koop|(этот )?домен (прода[её]тся|продан|припаркован)|domena (jest )?na sprzedaż",
    ),
    _title(
        "soft_404",
        3,
        r"(this )?(account|site|website|web ?site|blog|hosting|page|store) (has been |is |was )?(suspended|disabled|deactivated|terminated|not (published|configured|available)|closed|unpublished)|site not (found|published|configured)|website (expired|unavailable)|store (unavailable|closed)|domain (not configured|not connected)|konto gesperrt|compte suspendu|cuenta suspendida|conta suspensa|account sospeso|bandwidth limit exceeded",
    ),
    _title(
        "paywall",
        2,
        r"subscri(be|ption required)( to (read|continue).{0,40})?|subscribers only|premium (content|article)|register to (read|continue).{0,30}",
    ),
    _title(
        "js_required",
        3,
        r"javascript (is )?(required|disabled|not (enabled|available))|(please )?(enable|turn on) javascript.*|enable javascript and cookies to continue",
    ),
    NOT_FOUND_TITLE,
)

SENTENCES: tuple[Phrase, ...] = (
    # challenge
    _phrase(
        "challenge",
        4,
        r"checking (if the site connection is secure|your browser before (accessing|you access|allowing))|needs to review the security of your connection|enable javascript and cookies to continue",
        r"please wait while (your request is being|we) verif\w+|verifying (that )?you are (human|not a (ro)?bot)\. this may take|this process is automatic\. your browser will redirect|(ddos protection|security) by (cloudflare|ddos-guard|stormwall|blazingfast|vddos)|making sure you('re| are) not a bot|performing security verification|we('re| are) (checking|verifying) your (browser|connection|request)|complete a (quick )?proof.of.work|checking your browser\b.{0,60}(moment|second|wait|automatic|redirect)",
        r"(ihr|dein) browser wird (überprüft|geprüft)|wir überprüfen (ihren|deinen) browser|überprüfung (ihres|deines) browsers|vérification de votre navigateur|nous vérifions votre navigateur|(comprobando|verificando) (su|tu|o seu|el) navegador|verifica del (tuo |suo )?browser|controllo del (tuo |suo )?browser|провер(ка|яем) (вашего |ваш )?браузер|перевірка (вашого )?браузера|sprawdzanie (twojej )?przeglądarki|正在(检查|验证|检测)(您的|你的)?浏览器|ブラウザ(ー)?を(確認|チェック)|브라우저를 확인",
        r"(made|makes) us think (that )?you (were|are|might be) a (ro)?bot",
    ),
    # captcha
    _phrase(
        "captcha",
        3,
        r"(please|to continue,?|you must|need to) .{0,30}(complete|solve|pass|fill (in|out)) (the|this|a) .{0,20}(captcha|security check|challenge|puzzle|verification)|(please,?|to continue,?|you must|need to|have to|let's|let us) (verify|confirm|prove|show)( to us)? (that )?you('re| are) (a |really )?(human|not a (ro)?bot)|(make|be) sure (that )?(you're|you are|you aren't|it's) (really )?(not a robot|a robot|human|you)|enter the (characters|letters|text|code|numbers) (you see|shown|displayed|below|from the image)|press (&|and) hold|unusual (traffic|activity|requests) (from|has been detected|detected|on) (your|this)|drag the slider|slide to (verify|complete|unlock)|(help us )?confirm (that )?you('re| are) (a )?human|check the box .{0,40}(human|robot)|suspect(ed|s)? (that )?you (are|may be|might be) (a )?(ro)?bot|automated (requests|traffic|access|queries) (from|coming from) your",
        r"(bestätigen sie|bestätige|beweisen sie|beweise)( bitte)?,? dass (sie|du) (ein mensch|kein (ro)?bot\w*)|ich bin kein roboter|sicherheitsabfrage|(confirmez|vérifiez|prouvez)( s'il vous plaît)? que vous (êtes|n'êtes) .{0,10}(humain|robot)|je ne suis pas un robot|(confirma|confirme|demuestra|demuestre|verifica|verifique) que (eres|es|no eres|no es) (un )?(humano|robot)|no soy un robot|(confirme|prove|verifique) que você (é|não é) (um )?(humano|robô)|não sou um robô|(conferma|dimostra|verifica) (che|di) .{0,12}(umano|robot)|non sono un robot|bevestig dat (je|u) (een mens|geen robot)|ik ben geen robot|(подтвердите|докажите),? что .{0,40}(не робот|вы человек|а не робот)|я не робот|запросы с вашего (устройства|ip).{0,40}автоматическ|potwierdź,? że (nie jesteś robotem|jesteś człowiekiem)|nie jestem robotem|robot olmadığını(zı)? (doğrula|kanıtla)|请(完成|输入|拖动|滑动|点击).{0,12}(验证|验证码|滑块)|(检测到|发现)(您|你)?.{0,8}异常(访问|流量|请求)|私はロボットではありません|ロボットではない|(画像|文字)認証|로봇이 아닙니다|자동 입력 방지",
    ),
    _phrase(
        "captcha",
        2,
        r"(verify|confirm|prove|show)( to us)? (that )?you('re| are) (a |really )?(human|not a (ro)?bot)",
    ),
    # hard block
    _phrase(
        "hard_block",
        4,
        r"(sorry, )?you (have been|are|were|'ve been) (temporarily |permanently |automatically )?(blocked|banned)\b|the owner of this (website|site).{0,80}has (banned|blocked) (your|you)|(this|our) (website|site) is using a security service to protect itself|why have i been blocked|(access|request|visit|connection)s? (to this (page|site|website|resource|service) )?(has been|have been|is|was|were) (denied|blocked|rejected|refused|restricted|forbidden)\b.{0,120}(automat|(ro)?bots?\b|security|suspicious|firewall|malicious|polic|scrap|crawl|abuse|unusual|violat|protect)|(believe|detected|think|suspect) (that )?(you are|you're|you may be|you were) (using|a) .{0,30}(automat|bot|script|scrap|crawl|vpn|proxy)",
        r"your (ip|ip address|network|computer|device|browser|user.?agent)( address)?( \(?[0-9a-f.:]{3,45}\)?)? (has been|is|was|appears to be) (temporarily |permanently |automatically )?(block|ban|blacklist|deni|restrict|flag)\w*|error code:? 10(0[5-8]|1[0-3]|20)\b|security (rules|policy|policies|service|system|software) .{0,60}(block|denied|prevent|trigger)\w*|blocked by (our|the|a|your)? ?(\w+ )?(security|firewall|waf|administrator|web application)|web application firewall|support id:? ?\d{6,}|incident id:? ?[0-9a-f-]{6,}|our (systems?|security) (have|has) (detected|flagged|identified) .{0,60}(suspicious|unusual|automated|malicious|bot)",
        r"ihre (ip|ip-adresse|anfrage|verbindung)\b.{0,60}(gesperrt|blockiert|abgelehnt)|votre (adresse )?(ip|requête|demande)\b.{0,60}(bloqu|refus|rejet)\w+|(su|tu) (dirección )?(ip|solicitud|petición)\b.{0,60}(bloquea|rechaza|denega)\w+|(seu|sua) (endereço )?(ip|solicitação|requisição)\b.{0,60}(bloquea|rejeita|nega)\w+|(il tuo|la tua|il suo|la sua) (indirizzo )?(ip|richiesta)\b.{0,60}(bloccat|rifiutat|negat)\w+|ваш (ip|ip-адрес|запрос|доступ)\b.{0,60}(заблокирован|отклон|ограничен|запрещ)\w*|twój (adres )?ip\b.{0,60}zablokowan\w+|(您|你)的?(ip|请求|访问|网络).{0,16}(拦截|封禁|阻断|拒绝|禁止|屏蔽|限制)|(アクセス|リクエスト|ipアドレス).{0,12}(ブロック|拒否)",
    ),
    _phrase(
        "hard_block",
        3,
        r"your (request|access|connection|visit|session) (has been|was|is) (blocked|denied|rejected|refused|restricted|flagged)|the request (has been|was) (blocked|denied|rejected)|request (was )?blocked|you (don't|do not) have (permission|access) to (access|view) .{0,80}on this server|(contact|consult) (with )?(your|the) (site )?(administrator|webmaster|site owner).{0,80}(block|reject|id|reference|ray)|(ray|reference|incident|event|request|case|block|transaction) ?(id|number|#|no\.?):? ?#?[0-9a-z.\-]{6,}.{0,120}(block|denied|protect|security)|access is (denied|forbidden|restricted)|bot (access|activity|traffic) (attempt|detected|is not allowed)|block reason",
        r"(der )?(zugriff|zugang) .{0,40}(verweigert|gesperrt|blockiert)|(l')?accès .{0,40}(refusé|bloqué|interdit)|(el )?acceso .{0,40}(denegado|bloqueado|restringido)|acesso .{0,40}(negado|bloqueado)|accesso .{0,40}(negato|bloccato)|доступ .{0,40}(запрещ[её]н|заблокирован|ограничен)|访问.{0,6}(拦截|拒绝|阻断|禁止)",
    ),
    # rate limit
    _phrase(
        "rate_limit",
        3,
        r"too many requests|(you('ve| have)|your (ip|client|account|network|application)( address)? (has|have)?) ?(made|sent|exceeded|reached|hit|issued|been sending) .{0,40}(requests|limit|rate)|(rate|request|api|usage) ?(limit|quota)s? (has been |have been |was |is )?(exceeded|reached|hit)|(being|been) rate.?limited|exceeded .{0,30}(number of|maximum|limit).{0,30}(request|page)|slow down|requests? (too|so) (quickly|fast|frequently)|try again in \d+ (second|minute)s?",
        r"zu viele anfragen|trop de requêtes|demasiadas (solicitudes|peticiones)|muitas (solicitações|requisições)|troppe richieste|te veel (verzoeken|aanvragen)|слишком (много|часто).{0,10}запрос\w*|(za dużo|zbyt wiele) (żądań|zapytań)|(访问|请求|操作)(过于|太|次数过)(频繁|多)|リクエスト(が|数).{0,8}(多すぎ|超え|制限)|요청이 너무 많",
    ),
    # geo block
    _phrase(
        "geo_block",
        4,
        r"(not|n't|un|currently not|no longer) ?(be )?(available|accessible|offered|licensed|viewable|supported|permitted|allowed) (to (users|visitors|people) )?(in|from|within|outside) (your|this) (current )?(country|region|location|area|territory|jurisdiction|geograph\w+)|from a country belonging to the european economic area|(block|restrict|den|prohibit)\w* (access |visitors |users |traffic )?(from|in) (your|certain|some) (current )?(countr|region|location)\w*|your (country|region|location|geographic\w* \w+)( or region)? (is|has been|was|isn't|is not) (not )?(block|ban|restrict|support|allow|permit)\w*|(access|available) .{0,30}(due to|because of) (geo\w*|regional|legal|licensing|gdpr).{0,30}(restriction|reason|requirement|regulation)s?|(for|due to) legal reasons.{0,60}(unavailable|not available|cannot|blocked)|unavailable (for|due to) legal reasons|outside (of )?(the )?(united states|us|uk|united kingdom|eu|european union|canada|australia|japan) .{0,40}(not|unable|cannot|restricted)|(not available|unavailable|blocked).{0,40}(in|for|to) (the )?(european (union|economic area)|eu\b|eea)",
        r"in (ihrem|deinem|diesem) (land|gebiet|staat) (leider )?(nicht|derzeit nicht|aktuell nicht) .{0,20}(verfügbar|abrufbar|zugänglich|erreichbar)|in (ihrer|deiner|dieser) region (leider )?(nicht|derzeit nicht) .{0,20}(verfügbar|abrufbar)|(pas|plus|non) (disponible|accessible) (dans|depuis) votre (pays|région|territoire|zone)|no (está |se encuentra )?disponible (en|desde|para) (su|tu) (país|región|ubicación|zona)|não (está |se encontra )?disponível (no|para o|em) (seu|teu) (país|território)|não (está )?disponível na sua (região|localização)|non (è |sono )?(disponibil\w|accessibil\w) (nel|dal) (tuo|suo|vostro) paese|niet (beschikbaar|toegankelijk) in (jouw|uw|je) (land|regio)|(недоступ\w+|не доступ\w+|заблокирован\w*|ограничен\w*) .{0,30}(в|для|из) (вашей стран\w+|вашем регион\w+|вашего регион\w+|вашей территории)|niedostępn\w+ w (twoim|państwa) (kraju|regionie)|(您|你)?所在的?(国家|地区|區域|區|地域).{0,20}(不可用|无法|不支持|不提供|無法|未提供|不可)|お住まいの(国|地域)(では|から).{0,20}|(ご利用|視聴|閲覧)(いただけません|できません).{0,10}(地域|国)|(해당|현재) (국가|지역)에서.{0,20}(없|불가)|ülkenizde .{0,20}(kullanılamıyor|mevcut değil)",
    ),
    # login wall
    _phrase(
        "login_wall",
        3,
        r"(you (must|need to|have to|should)|please|kindly) (first )?(be )?(logged|log|sign|signed) ?-?in( or (register|sign ?up|create an account|join|subscribe))?( first)?( in order)? (to|before|for) (continue|view|see|access|read|browse|use|proceed|this|the)|(log|sign) ?in( or (register|sign ?up|create an account|join))? to (continue|view|see|access|read|proceed|your account)|(this|the) (page|content|area|site|section) (is )?(requires|require|only|restricted|reserved|available|for) .{0,30}(log ?in|logged|sign|members|registered users)|(login|authentication|authorization) (is )?required|you are not logged in|your session has (expired|timed out)",
        r"(bitte )?(melden sie sich|melde dich|loggen sie sich|logge dich) (bitte )?(zuerst )?(an|ein)|um (diese|fortzufahren|auf).{0,60}(anmelden|einloggen)|(connectez-vous|identifiez-vous|veuillez vous (connecter|identifier)|vous devez (être connecté|vous connecter))|(inicia|inicie|debes iniciar|debe iniciar|necesitas iniciar) sesión|(faça|fazer|precisa fazer|você precisa) .{0,12}(login|entrar)|(effettua|devi effettuare|esegui) (il login|l'accesso|l'autenticazione)|(devi|per continuare).{0,20}acced\w+|(log|meld je|je moet) .{0,16}(in|aan|ingelogd) (om|voor|zijn)|(войдите|авторизуйтесь|необходимо (войти|авторизоваться)|требуется авторизация)|(zaloguj się|musisz (być zalogowany|się zalogować))|logga in för att|请(先)?登(录|陆)|請(先)?登入|ログインして(ください)?|ログインが必要|로그인(이|을|해|후)",
    ),
    # paywall
    _phrase(
        "paywall",
        3,
        r"subscribe (now |today )?to (continue|keep|read|unlock|get (full|unlimited)|access)|(to|for) (continue|keep) reading|(this|full|the) (article|story|content|post|page) is (for|only for|available (only )?to|exclusive(ly)? (for|to)|reserved for|limited to) .{0,20}(subscriber|member|premium|paying)s?|already a (subscriber|member)\?|you('ve| have) (reached|read|used|hit) (your|all).{0,30}(limit|free (articles|stories))|(unlock|get access to) this (article|story)|become a (subscriber|member) to|start your (free )?trial to|remaining free articles",
        r"(jetzt |um |zum )?weiterlesen (mit|nur|im)|(abonnieren|testen) sie .{0,60}(weiter|lesen)|(dieser|der|diesen) (artikel|inhalt|text) .{0,40}(abonnent|plus|premium|kostenpflichtig)|(article|contenu) (est )?réservé (à nos|aux) abonnés|abonnez-vous pour|(suscríbete|suscríbase) para|(contenido|artículo) (exclusivo|solo) para suscriptores|assine (para|e)|(conteúdo|matéria) exclusiv\w+ para assinantes|abbonati per|(contenuto|articolo) riservato agli abbonati|(alleen|exclusief) voor abonnees|только для подписчиков|оформите подписку|会員限定|有料会員|订阅.{0,6}(后|以)?(继续|阅读)",
    ),
    # consent
    _phrase(
        "consent_wall",
        2,
        r"(reject|decline|refuse|accept|agree to|allow) (all|cookies)|(accept|agree|consent).{0,60}cookies|cookies?.{0,80}(accept|consent|agree)|(ablehnen|akzeptieren|zustimmen)|(tout )?(accepter|refuser)|(aceptar|rechazar)( todo| todas)?|(aceitar|rejeitar)|accett\w+|rifiut\w+|accepteren|weigeren",
    ),
    # queue
    _phrase(
        "queue",
        4,
        r"you (are|'re) (now |currently )?in (a |the |our )?(virtual )?(line|queue|waiting room)|your (estimated|expected|approximate) wait(ing)?( time)?|(number|place|position|spot) in (the )?(line|queue)|(number of )?(users|people|visitors) (in line )?(ahead of|before|in front of) you|(it's|it is|when it's|until it's) your turn|do not (refresh|close) (this|the) (page|browser).{0,80}(place|queue|line|turn)|due to (high|heavy|increased|unusually high) (demand|traffic|volume).{0,120}(wait|queue|line|room)|(sie|du) (befinden sich|befindest dich|sind|bist) .{0,20}warteschlange|ihre (geschätzte|voraussichtliche) wartezeit|vous êtes .{0,20}file d'attente|temps d'attente (estimé|restant)|(está|estás|te encuentras) en (la|una) (cola|fila|sala)|tiempo (estimado )?de espera|você está na fila|tempo (estimado )?de espera|sei in (coda|fila)|tempo di attesa|(je|u) (staat|bent) in de wachtrij|вы (находитесь )?в очереди|время ожидания|正在排队|前面还有.{0,10}人|順番(待ち|が来)",
    ),
    # maintenance
    _phrase(
        "maintenance",
        3,
        r"(down|offline|closed|unavailable) for (a |some |scheduled |planned |routine )*(maintenance|updates?|upgrades?)|(undergoing|performing|under|in|carrying out|doing) (some |scheduled |planned |routine |essential |a )*maintenance|(we('ll| will)|will|should|please check) .{0,20}be? ?(right )?back (soon|shortly|online|later|in)|maintenance mode|be back (soon|shortly|online)",
        r"wartungsarbeiten|wird (gerade |derzeit |aktuell )?gewartet|(in|wegen) wartung|est (actuellement )?en (cours de )?maintenance|(opération|travaux) de maintenance|(está|estamos) (actualmente )?en (tareas de )?mantenimiento|(tareas|trabajos|labores) de mantenimiento|(está|estamos) em manutenção|è in manutenzione|(lavori|interventi) di manutenzione|(in|wegens) onderhoud|onderhoudswerkzaamheden|(ведутся|проводятся) .{0,20}работы|техническ\w+ (обслуживани|работ)\w+|(prace|przerwa) (techniczn|konserwacyjn)\w+|メンテナンス(中|を実施|作業)|(系统|网站|服务器).{0,6}维护|(점검|유지보수) ?(중|작업)",
    ),
    # A page that announces one may say as much.
    _phrase(
        "maintenance",
        2,
        r"(scheduled|planned|routine|ongoing|essential|system|site|website|server) maintenance",
    ),
    # parked
    _phrase(
        "parked",
        4,
        r"(this |the )?domain( name)?( \S+\.\w+)? (is|may be|might be|could be) (for sale|parked|available for (sale|purchase)|listed for sale)|(buy|purchase|inquire about|interested in( buying)?|make an offer (on|for)) this domain|(parked|registered) (free|at|by|with).{0,40}(courtesy|godaddy|namecheap|registrar|sedo|ionos|domain)|domain( name)?( \S+)? (has )?expired|this domain (was|is) (recently )?registered|(related|sponsored) (searches|listings).{0,80}(domain|privacy policy)",
        r"diese domain (steht|ist) .{0,20}(verkauf|verkaufen|geparkt)|domain (kaufen|erwerben)|(ce|le) (nom de )?domaine .{0,40}(à vendre|en vente|expiré)|(este|el) dominio .{0,40}(en venta|a la venta|expirado)|este domínio .{0,40}(à venda|expirou)|(questo|il) dominio .{0,40}(in vendita|scaduto)|(dit|deze) domein\w* .{0,30}te koop|домен .{0,40}(прода[её]тся|выставлен на продажу|истек)|domena .{0,30}na sprzedaż|(此|该|本)?域名.{0,10}(出售|转让|过期)|このドメインは.{0,20}(販売|売)",
    ),
    # suspended or unpublished sites: nothing of the page is there any more
    _phrase(
        "soft_404",
        4,
        r"this (account|website|site|web ?site|hosting account|blog|store|shop) (has been|is|was) (suspended|disabled|deactivated|terminated|unpublished|closed|removed|not (yet )?published)|(contact|please contact) your (hosting|host) provider.{0,60}|there('s| is)n't a .{0,20}(site|app|page) (here|configured)|no such (app|site|bucket)|repository not found|(dieses|das) konto (wurde|ist) gesperrt|ce (compte|site) (a été|est) (suspendu|désactivé)|esta (cuenta|página web) (ha sido|está) suspendida",
    ),
    NOT_FOUND_TEXT,
)

#: A status explained to a reader, as references and manuals do and no wall does.
EXPLAINING = Expression(
    r"(status )?(code|response|error) (class |message )?(indicates|means|signals|is (sent|returned|used|generated) (when|if|by|to))"
    r"|status code (of|for|in|from) the|\b(servers?|clients?|responses?|user agents?) (may|should|must|can|might) (send|include|retry|return|use|be)"
    r"|(the|a) (user|client) has (sent|made|been)|\brfc ?\d{3,5}\b"
    r"|(statuscode|fehlercode|code d'état|código de estado|codice di stato|код состояния).{0,40}(bedeutet|besagt|indique|signifie|indica|significa|означает|указывает)"
)

#: Asked of noscript and of the text of a page that shows little else.
JS_REQUIRED = Expression(
    r"(enable|activate|turn on|allow|requires?|needs?|must have|switch on|supports?) (your )?(java ?script|js\b)|java ?script (is|must be|needs to be|has to be|support)? ?(is )?(required|disabled|enabled|turned off|not (enabled|available|supported)|deaktiviert|desactivado|désactivé|erforderlich|disabilitato|отключ[её]н)|without java ?script|(aktivieren sie|aktiviere|schalten sie|benötigt|erfordert) .{0,20}java ?script|java ?script .{0,20}(aktivieren|einschalten|aktiviert|activer|activé|activar|habilitar|habilitado|ativar|attivare|abilitare|inschakelen|включить|включите|включен|有効)|(activer|activez|veuillez activer|nécessite) .{0,20}java ?script|(habilit[ae]r?|activ[ae]r?|necesita|requiere) .{0,20}java ?script|(ative|habilite|requer) .{0,20}java ?script|(attiva|abilita|richiede|attivare|abilitare) .{0,20}java ?script|(schakel|zet|vereist) .{0,20}java ?script|(включите|необходим|требуется|нужен) .{0,20}java ?script|(włącz|wymaga) .{0,20}java ?script|(启用|开启|打开|需要) ?java ?script|java ?script ?(を有効|가 필요|를 활성화|を利用)"
)

#: A login page at such an address is the page asked for.
LOGIN_URL = Expression(
    r"(log-?in|sign-?in|signon|sso|auth|account|anmeld|connexion|session|register|sign-?up|wp-admin|passw|konto|compte|cuenta|user|member)",
    re.I,
)
