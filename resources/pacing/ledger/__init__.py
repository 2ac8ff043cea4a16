"""The politeness ledger: what is remembered of a domain from night to night."""
