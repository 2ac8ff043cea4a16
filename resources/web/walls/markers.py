"""Marks vendors leave in a body, as tables.

Strong marks decide by themselves on a page without content of its own; the first that fits names vendor and
kind, so within a vendor the more telling stand first. Presence marks (cookies, CDN headers, sensor scripts on
good pages) are no marks at all and do not occur here. Facts: the vendors' public pages as crawled, and the
signature collections wafw00f, cloudscraper, crawlee, crawl4ai and spider.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from .expression import Expression

__all__ = ["DATA_MARKS", "STRONG_MARKS", "WIDGETS", "Mark", "Zone"]

Zone = Literal["source", "script", "name", "text", "title", "comment"]


@dataclass(frozen=True, slots=True)
class Mark:
    """`pattern` is searched in a zone of the page: source attributes (`tag url`), inline script, element names
    (`#id`, `.class`, `@data-translate`), visible text, title, comments. `thin` is the most text (weight) a page
    may have for the mark to count."""

    vendor: str | None
    kind: str
    zone: Zone
    pattern: Expression
    thin: int


def _mark(vendor: str | None, kind: str, zone: Zone, pattern: str, thin: int = 3000) -> Mark:
    return Mark(vendor, kind, zone, Expression(pattern, re.I | re.M), thin)


STRONG_MARKS: tuple[Mark, ...] = (
    # Cloudflare
    _mark("cloudflare", "hard_block", "name", r"^@(block_headline|unable_to_access)$"),
    _mark("cloudflare", "captcha", "name", r"^\.cf-captcha-container$|^#(cf-)?turnstile-wrapper$"),
    _mark(
        "cloudflare",
        "challenge",
        "script",
        r"_cf_chl_opt|cf_chl_(prog|opt|ctx)|/cdn-cgi/challenge-platform/\S{0,60}orchestrate/",
    ),
    _mark(
        "cloudflare",
        "challenge",
        "source",
        r"/cdn-cgi/challenge-platform/\S{0,60}orchestrate/|__cf_chl_(f_|rt_|captcha_|jschl_)?tk",
    ),
    _mark(
        "cloudflare",
        "challenge",
        "name",
        r"^@(checking_browser|turn_on_js)$|^#(cf-challenge-|challenge-error-text|cf-please-wait)",
    ),
    # DataDome
    _mark(
        "datadome",
        "challenge",
        "source",
        r"ct\.captcha-delivery\.com/i\.js|captcha-delivery\.com/interstitial",
    ),
    _mark("datadome", "captcha", "source", r"captcha-delivery\.com/"),
    _mark(
        "datadome",
        "challenge",
        "script",
        r"\bdd\s*=\s*\{[^}]{0,300}'rt'\s*:\s*'i'[^}]{0,300}captcha-delivery\.com",
    ),
    _mark("datadome", "captcha", "script", r"\bdd\s*=\s*\{[^}]{0,600}captcha-delivery\.com"),
    # HUMAN (PerimeterX)
    _mark("perimeterx", "captcha", "name", r"^[#.]px-captcha"),
    _mark(
        "perimeterx",
        "captcha",
        "source",
        r"captcha\.px-(cdn|cloud)\.net|/captcha/captcha\.js\?a=c|perimeterx\.com/whywasiblocked",
    ),
    _mark("perimeterx", "captcha", "script", r"_pxBlockScript|px-captcha|_pxUuid\s*=.{0,200}captcha"),
    # Akamai
    _mark("akamai", "challenge", "source", r"bm-verify=|/_sec/(verify|cp_challenge)"),
    _mark("akamai", "challenge", "script", r"/_sec/(verify|cp_challenge)|bm-verify|sec_cpt|sec-cp-challenge"),
    _mark("akamai", "challenge", "name", r"^[#.]sec-(if|bc)-(cpt|container|tile)"),
    _mark("akamai", "hard_block", "text", r"reference\s?#\s?\d+\.[0-9a-f]{4,}\.\d{8,}\.[0-9a-f]{4,}", 1500),
    _mark("akamai", "hard_block", "text", r"errors\.edgesuite\.net/\d"),
    # Imperva (Incapsula, Distil, Advanced Bot Protection)
    _mark("imperva", "challenge", "source", r"^iframe \S*_Incapsula_Resource"),
    _mark("imperva", "challenge", "source", r"^script \S*_Incapsula_Resource", 60),
    _mark(
        "imperva",
        "challenge",
        "script",
        r"reeseSkipExpirationCheck|interstitial-inprogress|onProtectionInitialized|distil_(r_captcha|ident)",
    ),
    _mark(
        "imperva",
        "challenge",
        "name",
        r"^#(interstitial-inprogress|distilCaptchaForm|distilIdentificationBlock)$",
    ),
    _mark(
        "imperva",
        "hard_block",
        "text",
        r"incapsula incident id|powered by imperva.{0,80}(incident|event) id",
        1500,
    ),
    _mark(
        "imperva",
        "challenge",
        "text",
        r"pardon our interruption\b.*(made us think (that )?you (were|are|might be) a bot|browser)",
        2500,
    ),
    # AWS WAF
    _mark("aws-waf", "captcha", "source", r"captcha\.awswaf\.com|captcha-sdk\.awswaf\.com"),
    _mark("aws-waf", "captcha", "script", r"AwsWafCaptcha\.|CaptchaScript\.renderCaptcha"),
    _mark(
        "aws-waf",
        "challenge",
        "script",
        r"gokuProps|AwsWafIntegration\.(checkForceRefresh|forceRefreshToken|getToken)",
    ),
    _mark("aws-waf", "challenge", "source", r"^script \S*token\.awswaf\.com", 150),
    # Kasada
    _mark("kasada", "challenge", "script", r"KPSDK\s*=|KPSDK\.(now|start|scriptStart)", 300),
    _mark("kasada", "challenge", "source", r"/149e9513-01fa-4fb0-aad4-566afd725d1b/\S*(ips\.js|fp\?)", 100),
    # Vercel, Fastly, SiteGround, Anubis, Aliyun, Imunify360, DDoS-Guard, and the others of their kind
    _mark("vercel", "challenge", "title", r"^vercel security checkpoint$"),
    _mark("vercel", "challenge", "text", r"we're verifying your browser|vercel security checkpoint", 600),
    _mark("vercel", "challenge", "source", r"/\.well-known/vercel/security/"),
    _mark("fastly", "challenge", "source", r"/_fs-ch-"),
    _mark("fastly", "challenge", "script", r"/_fs-ch-"),
    _mark("siteground", "challenge", "source", r"/\.well-known/(sg)?captcha/"),
    _mark("siteground", "challenge", "script", r"/\.well-known/sgcaptcha/|sgchallenge"),
    _mark("anubis", "challenge", "name", r"^#anubis_(challenge|version|base_prefix|public_url)"),
    _mark("anubis", "challenge", "source", r"/\.within\.website/x/cmd/anubis/"),
    _mark("go-away", "challenge", "source", r"/\.well-known/\.git\.gammaspectra\.live/git/go-away/"),
    _mark("aliyun", "captcha", "source", r"_____tmd_____/punish|x5secdata="),
    _mark("aliyun", "captcha", "script", r"_____tmd_____/punish|x5secdata"),
    _mark("aliyun", "challenge", "script", r"\bacw_sc__v[23]\b|arg1\s*=\s*'[0-9A-F]{40}'"),
    _mark("aliyun", "hard_block", "source", r"errors\.aliyun\.com"),
    _mark("imunify360", "challenge", "name", r"^#wsidchk-form$"),
    _mark(
        "imunify360",
        "challenge",
        "text",
        r"imunify360.{0,60}(bot|protect|denied)|protected by imunify360",
        1500,
    ),
    _mark(
        "ddos-guard",
        "challenge",
        "source",
        r"/\.well-known/ddos-guard/(js-challenge|check|mark|id)|check\.ddos-guard\.net",
    ),
    _mark("ddos-guard", "challenge", "name", r"^#(ddg-captcha|ddg-challenge)|^[.#]ddg-"),
    _mark("reblaze", "challenge", "script", r"window\.rbzns|rbzns\s*=|winsocks\s*\("),
    _mark("jiasule", "challenge", "script", r"__jsl_clearance"),
    _mark(
        "radware",
        "captcha",
        "source",
        r"validate\.perfdrive\.com|captcha\.perfdrive\.com|cdn\.perfdrive\.com/aperture",
    ),
    _mark("radware", "captcha", "text", r"radware (captcha|bot manager) (page|captcha)", 1500),
    _mark("stackpath", "challenge", "source", r"/sbbi/\?sbbpg="),
    _mark("stackpath", "challenge", "script", r"/sbbi/\?sbbpg=|sbbgscc"),
    _mark("sucuri", "challenge", "script", r"sucuri_cloudproxy_js"),
    _mark("sucuri", "hard_block", "source", r"sucuri-firewall-block|sucuri\.net/sucuri"),
    _mark("sucuri", "hard_block", "text", r"sucuri web ?site firewall|sucuri cloudproxy"),
    _mark("siteguard", "hard_block", "text", r"blocked by siteguard"),
    _mark("servicepipe", "challenge", "source", r"/exhkqyad|servicepipe\.ru"),
    _mark("qrator", "challenge", "source", r"/__qrator/"),
    _mark("qrator", "challenge", "script", r"/__qrator/"),
    _mark("variti", "challenge", "script", r"ipp_(uid|key|sign)\b"),
    _mark("yandex", "captcha", "source", r"/(showcaptcha|checkcaptcha|xcheckcaptcha|showcaptchafast)\b"),
    _mark("google", "captcha", "source", r"^form \S*/sorry/|^form (CaptchaRedirect|index)$"),
    _mark("google", "captcha", "text", r"detected unusual traffic from your (computer )?network", 2000),
    _mark("amazon", "captcha", "source", r"/errors/validateCaptcha"),
    _mark(
        "amazon", "hard_block", "comment", r"to discuss automated access to amazon data please contact", 600
    ),
    _mark("ebay", "challenge", "source", r"/splashui/(challenge|captcha)"),
    _mark("linkedin", "login_wall", "script", r"/authwall\?"),
    _mark("bitninja", "captcha", "text", r"bitninja", 1200),
    _mark("tencent", "captcha", "source", r"turing\.captcha\.(qcloud|gtimg)\.com|/TCaptcha\.js", 300),
    _mark(
        "tencent", "hard_block", "source", r"waf\.tencent-cloud\.com|imgcache\.qq\.com/qcloud/security/static"
    ),
    _mark(
        "queue-it",
        "queue",
        "source",
        r"(static|assets)\.queue-it\.net|\.queue-it\.net/(softblock|afterevent|error)",
        1200,
    ),
    _mark("queue-it", "queue", "script", r"queueit-?(overlay|inqueue|viewmodel)|inqueueInfo", 1200),
    _mark("cloudflare", "queue", "name", r"^[#.]cf-?waiting-?room|^#waitTime$", 1500),
    # Appliances: their sentences
    _mark(
        "f5", "hard_block", "text", r"the requested url was rejected\. please consult with your administrator"
    ),
    _mark("f5", "hard_block", "text", r"your support id is:? ?<?\d{10,}", 1500),
    _mark("f5", "challenge", "script", r"/TSPD/|\bTSPD\b|bobcmn"),
    _mark("f5", "challenge", "source", r"/TSPD/", 150),
    _mark(
        "wordfence",
        "hard_block",
        "text",
        r"generated by wordfence|your access to this (site|service) has been (temporarily )?(limited|blocked)",
    ),
    _mark(
        "modsecurity",
        "hard_block",
        "text",
        r"generated by mod_?security|blocked by mod_?security|not acceptable! an appropriate representation of the requested resource",
        1500,
    ),
    _mark("cloudfront", "geo_block", "text", r"configured to block access from your country", 1500),
    _mark(
        "cloudfront",
        "hard_block",
        "text",
        r"the request could not be satisfied\.? .{0,80}(request blocked|bad request)|generated by cloudfront",
        1500,
    ),
    _mark("webknight", "hard_block", "text", r"webknight application firewall", 1500),
    _mark("naxsi", "hard_block", "text", r"blocked by naxsi|naxsi blocked", 1500),
    _mark("dotdefender", "hard_block", "text", r"dotdefender blocked your request", 1500),
    _mark("fortiweb", "hard_block", "source", r"\.fgd_icon|/fgd_"),
    _mark(
        "fortiweb",
        "hard_block",
        "text",
        r"fortiweb|fortigate application control|fortiguard (intrusion|web)|server unavailable! .{0,40}attack id|web page blocked!?.{0,200}(url|attack id|client ip)",
        1500,
    ),
    _mark(
        "barracuda",
        "hard_block",
        "text",
        r"barracuda (networks|web application firewall|waf)\b.{0,80}|block(ed)?\b.{0,120}barracuda",
        300,
    ),
    _mark(
        "azure",
        "hard_block",
        "text",
        r"^(error )?\s?the request is blocked\.?|azure (web application firewall|front door|waf)\b.{0,80}block",
        600,
    ),
    _mark(
        "malcare",
        "hard_block",
        "text",
        r"firewall powered by malcare|blocked because of malicious activities",
        1500,
    ),
    _mark("ninjafirewall", "hard_block", "text", r"ninjafirewall", 800),
    _mark(
        "wp-cerber",
        "hard_block",
        "text",
        r"you are not allowed to proceed\b.{0,80}|looks suspicious or similar to automated requests",
        1500,
    ),
    _mark(
        "shield",
        "hard_block",
        "text",
        r"(blocked|something).{0,40}by (the )?shield( security)?\b|wp ?simple ?firewall",
        800,
    ),
    _mark("all-in-one-security", "hard_block", "text", r"you('ve| have) been (temporarily )?locked out", 800),
    _mark("comodo", "hard_block", "text", r"protected by comodo waf", 1500),
    _mark("wallarm", "hard_block", "text", r"(blocked|protected) by wallarm|wallarm.{0,40}blocked", 1500),
    _mark(
        "sitelock",
        "hard_block",
        "text",
        r"sitelock.{0,80}(incident|blocked|firewall)|sitelock will remember you",
        1500,
    ),
    _mark(
        "radware",
        "hard_block",
        "text",
        r"unauthorized activity has been detected\b.{0,200}case number|unauthorized request blocked",
        1500,
    ),
    _mark(
        "citrix",
        "hard_block",
        "text",
        r"(ns|app(lication)?) ?(fw|firewall) (block|session|transaction)|ns_transaction_id|appfw_",
        1500,
    ),
    _mark(
        "sonicwall",
        "hard_block",
        "text",
        r"(this request is|has been) blocked by (the )?sonicwall|web site blocked.{0,60}sonicwall",
        1500,
    ),
    _mark(
        "paloalto",
        "hard_block",
        "text",
        r"palo alto (next generation security|networks).{0,120}|access to the web page you were trying to visit has been blocked in accordance with company policy",
        1500,
    ),
    _mark(
        "zscaler",
        "hard_block",
        "text",
        r"zscaler.{0,120}(blocked|denied|not allowed)|(blocked|denied).{0,120}zscaler",
        1500,
    ),
    _mark("safedog", "hard_block", "text", r"safedog|网站防火墙|安全狗", 1500),
    _mark("360", "hard_block", "source", r"wzws-waf-cgi|wangshan\.360\.cn|wangzhan\.360\.cn"),
    _mark("baidu-yunjiasu", "hard_block", "text", r"yunjiasu|百度云加速", 1500),
    _mark(
        "aliyun",
        "hard_block",
        "text",
        r"your request has been blocked as it may cause potential threats|由于您访问的url有可能对网站造成安全威胁|您的请求(可能|疑似)?.{0,12}(攻击|威胁)",
        1500,
    ),
    _mark("huawei", "hard_block", "text", r"hwcloudwaf|huawei ?cloud ?waf", 1500),
    _mark(
        "virusdie", "hard_block", "text", r"virusdie.{0,60}(blocked|firewall)|blocked.{0,60}virusdie", 1500
    ),
    _mark("greywizard", "hard_block", "text", r"grey wizard.{0,120}", 1500),
    _mark(
        "cloudbric", "hard_block", "text", r"cloudbric.{0,120}|malicious code detected.{0,120}cloudbric", 1500
    ),
    _mark(
        "astra",
        "hard_block",
        "text",
        r"(blocked|protected).{0,60}astra(security| security| firewall)|getastra",
        1500,
    ),
    _mark("patchstack", "hard_block", "text", r"patchstack|webarx", 800),
    _mark("stormwall", "challenge", "source", r"stormwall|/__stw"),
    _mark("reddit", "hard_block", "text", r"blocked by network security", 1500),
    _mark("crawlprotect", "hard_block", "text", r"protected by crawlprotect", 1500),
)

#: Captcha widgets: on good pages too (forms), so they only add to what the text says.
WIDGETS: tuple[Mark, ...] = (
    _mark("cloudflare", "captcha", "name", r"^[.#](cf-)?turnstile"),
    _mark("cloudflare", "captcha", "source", r"challenges\.cloudflare\.com"),
    _mark("hcaptcha", "captcha", "name", r"^[.#]h-?captcha"),
    _mark("hcaptcha", "captcha", "source", r"hcaptcha\.com/"),
    _mark("recaptcha", "captcha", "name", r"^[.#](g-)?recaptcha"),
    _mark("recaptcha", "captcha", "source", r"/recaptcha/(api|enterprise)\.js(?!\S*render=(?!explicit))"),
    _mark("geetest", "captcha", "source", r"geetest\.com|/gt\d?\.js|gcaptcha4"),
    _mark("geetest", "captcha", "name", r"^[.#](geetest|gt-captcha)"),
    _mark("geetest", "captcha", "script", r"initGeetest"),
    _mark("arkose", "captcha", "source", r"arkoselabs\.com|funcaptcha\.com"),
    _mark("arkose", "captcha", "name", r"^[.#](arkose|funcaptcha|fun-?captcha)"),
    _mark("yandex", "captcha", "source", r"smartcaptcha\.(yandex|yandexcloud)"),
    _mark("yandex", "captcha", "name", r"^[.#](smart-captcha|CheckboxCaptcha|AdvancedCaptcha)"),
    _mark("friendlycaptcha", "captcha", "name", r"^[.#]frc-captcha"),
    _mark("mtcaptcha", "captcha", "name", r"^[.#]mtcaptcha"),
    _mark("altcha", "captcha", "source", r"/altcha(\.min)?\.js"),
    _mark("aliyun", "captcha", "name", r"^[.#](nc_\d_|nc-container|baxia-)"),
    _mark("tencent", "captcha", "source", r"TCaptcha\.js"),
    _mark(
        None,
        "captcha",
        "name",
        r"^[.#](captcha([-_]?(container|box|form|wrapper|image|page|code|input))?|verify-?captcha)$",
    ),
    _mark(None, "captcha", "source", r"^(img|form) \S*captcha"),
)

#: Marks in answers that are data (JSON to an XHR), searched in the raw body.
DATA_MARKS: tuple[tuple[Expression, str, str], ...] = tuple(
    (Expression(pattern, re.I), vendor, kind)
    for pattern, vendor, kind in (
        (r"captcha-delivery\.com/interstitial", "datadome", "challenge"),
        (r"captcha-delivery\.com/", "datadome", "captcha"),
        (r'"(blockScript|jsClientSrc)"\s*:', "perimeterx", "captcha"),
        (r'"cloudflare_error"\s*:\s*true', "cloudflare", "hard_block"),
        (r'"sec-cp-challenge"\s*:\s*"?true', "akamai", "challenge"),
        (r"_____tmd_____/punish|x5secdata|rgv587_flag", "aliyun", "captcha"),
        (r"validate\.perfdrive\.com", "radware", "captcha"),
        (r"reeseSkipExpirationCheck|_Incapsula_Resource", "imperva", "challenge"),
        (r'"(url|redirect)"\s*:\s*"https?:\\?/\\?/[^"]{0,80}/showcaptcha', "yandex", "captcha"),
    )
)
