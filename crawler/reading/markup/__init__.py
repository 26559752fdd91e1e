"""What a page states for machines: products in schema.org, meta tags and script state.  Not yet believed."""
