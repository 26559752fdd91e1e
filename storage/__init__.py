"""Remember: schema, migrations, all SQL.  Knows rows and columns, not policies."""
