"""Marks outside the body: refusing headers, servers that answer by themselves, and where redirects lead.

Headers and cookies that only show a vendor's presence are on half the web and are not here.
"""

from __future__ import annotations

import re

from .expression import Expression

__all__ = ["ANSWERING_SERVERS", "BLOCK_HEADERS", "LOCATION_MARKS"]

#: Response headers that say no: (name, value pattern, vendor, kind). The server writes them only when it blocks.
BLOCK_HEADERS: tuple[tuple[str, Expression, str, str], ...] = tuple(
    (name, Expression(value, re.I), vendor, kind)
    for name, value, vendor, kind in (
        ("cf-mitigated", r"challenge", "cloudflare", "challenge"),
        ("cf-mitigated", r"block|ban", "cloudflare", "hard_block"),
        ("x-amzn-waf-action", r"captcha", "aws-waf", "captcha"),
        ("x-amzn-waf-action", r"challenge", "aws-waf", "challenge"),
        ("x-amzn-waf-action", r"block", "aws-waf", "hard_block"),
        ("x-sucuri-block", r"", "sucuri", "hard_block"),
        ("x-vercel-mitigated", r"challenge", "vercel", "challenge"),
        ("x-vercel-mitigated", r"deny|block", "vercel", "hard_block"),
        ("sg-captcha", r"challenge", "siteground", "challenge"),
        ("x-dd-b", r"^[1-9]", "datadome", "captcha"),
        ("bxpunish", r"^1", "aliyun", "captcha"),
        ("x-wallarm-waf-check", r"block", "wallarm", "hard_block"),
        ("x-reblaze-action", r"challenge", "reblaze", "challenge"),
    )
)

#: `Server` values of machines that answer 4xx by themselves, so that the refusal is theirs, not the site's.
ANSWERING_SERVERS: tuple[tuple[str, str], ...] = (
    ("awselb", "aws-waf"),
    ("akamaighost", "akamai"),
    ("akamainetstorage", "akamai"),
    ("cloudfront", "cloudfront"),
    ("sucuri", "sucuri"),
    ("qrator", "qrator"),
    ("ddos-guard", "ddos-guard"),
    ("imunify360", "imunify360"),
    ("webknight", "webknight"),
    ("bigip", "f5"),
    ("big-ip", "f5"),
    ("reblaze", "reblaze"),
    ("yunjiasu", "baidu-yunjiasu"),
    ("stormwall", "stormwall"),
    ("variti", "variti"),
    ("wts/", "wts"),
    ("safedog", "safedog"),
    ("microsoft-azure-application-gateway", "azure"),
    ("cloudbric", "cloudbric"),
    ("stackpath", "stackpath"),
    ("greywizard", "greywizard"),
    ("barracuda", "barracuda"),
    ("fortiweb", "fortiweb"),
    ("aliyunwaf", "aliyun"),
    ("waf", "unnamed-waf"),
)

#: Where a redirect leads, as path or host: (pattern over the absolute URL, vendor, kind), first fit wins.
LOCATION_MARKS: tuple[tuple[Expression, str | None, str], ...] = tuple(
    (Expression(pattern, re.I), vendor, kind)
    for pattern, vendor, kind in (
        (r"//[^/?#]*queue-it\.|//(queue|waitingroom|waiting-room|wr)\.[^/]+/", "queue-it", "queue"),
        (r"/(waiting-?room|virtual-?queue|queue-?page|warteraum)/?([?#]|$)", None, "queue"),
        (r"/\.well-known/(sg)?captcha/", "siteground", "challenge"),
        (r"//geo\.captcha-delivery\.com/", "datadome", "captcha"),
        (r"//(validate|captcha)\.perfdrive\.com", "radware", "captcha"),
        (r"_____tmd_____/punish|x5secdata=", "aliyun", "captcha"),
        (r"/sorry/index\b", "google", "captcha"),
        (r"/(x?showcaptcha|checkcaptcha)\b", "yandex", "captcha"),
        (r"/splashui/(challenge|captcha)", "ebay", "challenge"),
        (r"/errors/validateCaptcha", "amazon", "captcha"),
        (r"[?&]__cf_chl_|/cdn-cgi/(challenge|l/chk)", "cloudflare", "challenge"),
        (
            r"^[^?#]*/(captcha|recaptcha|human-?verification|are-you-human|robot-?check|bot-?check|verify-?human|antibot)(\.\w+)?/?([?#]|$)",
            None,
            "captcha",
        ),
        (r"^[^?#]*/(challenge|js-challenge|browser-?check)(\.\w+)?/?([?#]|$)", None, "challenge"),
        (
            r"^[^?#]*/(blocked|access-?denied|accessdenied|banned|forbidden|not-?authorized-?bot)(\.\w+)?/?([?#]|$)",
            None,
            "hard_block",
        ),
        (r"^[^?#]*/(rate-?limit(ed)?|too-?many-?requests)(\.\w+)?/?([?#]|$)", None, "rate_limit"),
        (
            r"^[^?#]*/(geo-?block(ed)?|not-?available-?in-?your-?(country|region)|region-?(blocked|unavailable)|451)(\.\w+)?/?([?#]|$)",
            None,
            "geo_block",
        ),
        (
            r"//(consent|guce|cmp|privacy-?gate|myprivacy|privacy-mgmt)\.[^/]+/|//consent\.|/(cookie-?(wall|consent)|consent|privacy-?gate)([/?#]|$)",
            None,
            "consent_wall",
        ),
        (r"/authwall([/?#]|$)", "linkedin", "login_wall"),
        (
            r"^[^?#]*/(log-?in|sign-?in|signon|sso|auth|authenticate|authorize|oauth2?|openid-connect|saml2?|cas|wp-login\.php|connexion|anmelden|anmeldung|acceso|entrar|accedi|inloggen|login_form|users/sign_in|accounts?/(login|signin)|session/new)(\.\w+)?([/?#]|$)",
            None,
            "login_wall",
        ),
        (
            r"//(log-?in|sign-?in|sso|auth|accounts?|id|idp|identity|passport|cas)\.[^/?#]+/\S*(continue|return|redirect|next|target|service|goto|client_id|r?url|dest)",
            None,
            "login_wall",
        ),
        (r"^[^?#]*/(paywall|subscribe|abo|abonnement|subscription)s?/?([?#]|$)", None, "paywall"),
        (r"^[^?#]*/(maintenance|wartung|under-?maintenance)(\.\w+)?/?([?#]|$)", None, "maintenance"),
        (
            r"^[^?#]*/(404|404-?(page|error)|error-?404|error/404|errors/404|not-?found|page-?not-?found|notfound|nicht-gefunden|introuvable)(\.\w+)?/?([?#]|$)",
            None,
            "soft_404",
        ),
        (r"/cgi-sys/(suspendedpage|defaultwebpage)\.cgi", None, "soft_404"),
        (
            r"//[^/?#]*(sedoparking|parkingcrew|bodis|hugedomains|dan|afternic|sedo|parklogic|above)\.com/",
            None,
            "parked",
        ),
    )
)
