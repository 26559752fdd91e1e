"""From a request to a reply or a named failure: transports, robots.txt, politeness."""
