"""Query parameters that record how a visitor came, and select nothing.

A name is listed only when the system that appends it documents it as its own campaign or click id, and when
its spelling is too peculiar for a site to use it for content. Names that merely look like tracking (``ref``,
``source``, ``campaign``, ``cid``) are not here: a site may well select by them. Session ids are not here
either, since some old shops serve nothing without one; a site file lists them under ``drop_parameters``.

All names are lower case and compared without case.
"""

from __future__ import annotations

__all__ = ["TRACKING_PARAMETERS"]

_CAMPAIGN = (
    "utm_source utm_medium utm_campaign utm_term utm_content utm_id utm_name utm_reader utm_social utm_brand "
    "utm_cid utm_place utm_pubreferrer utm_swu utm_viz_id utm_source_platform utm_creative_format "
    "utm_marketing_tactic utm_social-type"
)
_MATOMO = (
    "pk_campaign pk_kwd pk_keyword pk_source pk_medium pk_content pk_cid piwik_campaign piwik_kwd "
    "piwik_keyword mtm_campaign mtm_kwd mtm_keyword mtm_source mtm_medium mtm_content mtm_cid mtm_group "
    "mtm_placement"
)
_INTERNAL_CAMPAIGN = "itm_source itm_medium itm_campaign itm_content itm_term"
#: Click ids: appended by the ad network to the address of the landing page.
_CLICK = (
    "gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid ysclid twclid ttclid igshid igsh epik srsltid "
    "wickedid rb_clickid s_cid _openstat li_fat_id scclid rdt_cid gad_source gad_campaignid"
)
#: Mailing and marketing systems.
_MAIL = (
    "mc_cid mc_eid mkt_tok _hsenc _hsmi __hstc __hssc __hsfp hsctatracking vero_id vero_conv oly_anon_id "
    "oly_enc_id ml_subscriber ml_subscriber_hash _bta_tid _bta_c dm_i"
)
#: Cross-domain linkers of web analytics.
_ANALYTICS = "_ga _gl"

TRACKING_PARAMETERS = frozenset(
    " ".join((_CAMPAIGN, _MATOMO, _INTERNAL_CAMPAIGN, _CLICK, _MAIL, _ANALYTICS)).split()
)
