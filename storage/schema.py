"""The schema, as numbered steps that bring any older file to the present one.

Times are epoch seconds, durations seconds, money millionths of the currency's unit.
Never edit a step that has been released: add one.
"""

SCHEMA_1 = """
-- A run of the crawler, from start to finish.
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    started_at REAL NOT NULL,
    ended_at REAL,
    finish TEXT,
    version TEXT NOT NULL,
    settings TEXT NOT NULL
);

-- One planning round of a run.
CREATE TABLE tick (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    started_at REAL NOT NULL,
    ended_at REAL,
    budget INTEGER,
    planned INTEGER NOT NULL DEFAULT 0,
    fetched INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    changed INTEGER NOT NULL DEFAULT 0,
    discovered INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE site (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

-- The unit of politeness: how it is treated, kept over restarts.
CREATE TABLE host (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    ready_at REAL NOT NULL DEFAULT 0,
    crawl_delay REAL NOT NULL DEFAULT 0,
    answer_time REAL NOT NULL DEFAULT 0,
    caution REAL NOT NULL DEFAULT 1,
    backoffs INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    note TEXT
);

CREATE TABLE robots (
    origin TEXT PRIMARY KEY,
    fetched_at REAL NOT NULL,
    outcome TEXT NOT NULL,
    status INTEGER,
    body BLOB
) WITHOUT ROWID;

-- A URL we know.  Rows are only ever added; what changes about a page is in page_state.
-- source_id is the page whose outlink, or the sitemap whose entry, was the first sight of this one.
CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    url_hash INTEGER NOT NULL,
    site_id INTEGER NOT NULL,
    host_id INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    how TEXT NOT NULL,
    source_id INTEGER,
    discovered_at REAL NOT NULL,
    pattern_id INTEGER NOT NULL
);
CREATE UNIQUE INDEX page_by_url ON page (url_hash);

-- The shapes of URLs: pages of one pattern tend to be of one kind.
CREATE TABLE pattern (
    id INTEGER PRIMARY KEY,
    pattern TEXT NOT NULL UNIQUE
);

-- What the last fetch of a page left behind.  fetched_at: last attempt.  confirmed_at: last believed answer.
CREATE TABLE page_state (
    page_id INTEGER PRIMARY KEY,
    kind TEXT,
    outcome TEXT NOT NULL,
    fetched_at REAL NOT NULL,
    confirmed_at REAL,
    changed_at REAL,
    gone_at REAL,
    not_before REAL NOT NULL DEFAULT 0,
    fetches INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    alias_of INTEGER,
    etag TEXT,
    last_modified TEXT,
    body_hash INTEGER,
    text_hash INTEGER,
    title TEXT
);

-- What the planner has learned of a page that is kept fresh.  Times are estimates, except fetched_at.
CREATE TABLE rhythm (
    page_id INTEGER PRIMARY KEY,
    first_seen_at REAL NOT NULL,
    changed_at REAL NOT NULL,
    fetched_at REAL NOT NULL,
    changes INTEGER NOT NULL,
    price_level INTEGER NOT NULL
);

-- What the planner has learned of a page that is fetched for its links.
-- kind: 0 other, 1 listing, 2 sitemap, 3 feed.
CREATE TABLE source (
    page_id INTEGER PRIMARY KEY,
    place INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    fetched_at REAL NOT NULL,
    learned_at REAL NOT NULL,
    found REAL NOT NULL,
    exposed REAL NOT NULL,
    hour_found BLOB NOT NULL,
    hour_expected BLOB NOT NULL
);

-- What pages share: the state of each policy, with the last tick and fetch it has learned from.
CREATE TABLE policy (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    tick_id INTEGER NOT NULL,
    fetch_id INTEGER NOT NULL,
    state BLOB NOT NULL
) WITHOUT ROWID;

-- One HTTP exchange: what came of it and why it was made.  changed: 1, 0, or NULL when it taught nothing.
-- signals: a bit for each kind of signal that was waiting.  discovered: new pages it showed.
-- hinted: signals it brought that tell of a change since the last fetch of their page.
CREATE TABLE fetch (
    id INTEGER PRIMARY KEY,
    page_id INTEGER NOT NULL,
    tick_id INTEGER NOT NULL,
    started_at REAL NOT NULL,
    duration REAL NOT NULL,
    outcome TEXT NOT NULL,
    status INTEGER,
    wire_bytes INTEGER,
    body_hash INTEGER,
    changed INTEGER,
    signals INTEGER NOT NULL,
    discovered INTEGER NOT NULL,
    hinted INTEGER NOT NULL,
    purpose TEXT NOT NULL,
    strategy TEXT NOT NULL,
    probability REAL NOT NULL,
    value REAL,
    reason TEXT NOT NULL,
    note TEXT
);
CREATE INDEX fetch_by_page ON fetch (page_id);

-- The present offers of a page.  held_*: an implausible value waiting for a second fetch to confirm it.
CREATE TABLE offer (
    id INTEGER PRIMARY KEY,
    page_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    price_micros INTEGER,
    currency TEXT,
    availability TEXT,
    title TEXT,
    brand TEXT,
    gtin TEXT,
    sku TEXT,
    seller TEXT,
    condition TEXT,
    category TEXT,
    image TEXT,
    source TEXT NOT NULL,
    confidence REAL NOT NULL,
    first_seen_at REAL NOT NULL,
    changed_at REAL NOT NULL,
    gone_at REAL,
    held_price_micros INTEGER,
    held_currency TEXT,
    held_at REAL,
    UNIQUE (page_id, key)
);

-- Price history: the first sight of an offer and each change, with the fetch that saw it.
CREATE TABLE price (
    offer_id INTEGER NOT NULL,
    observed_at REAL NOT NULL,
    price_micros INTEGER,
    currency TEXT,
    availability TEXT,
    fetch_id INTEGER NOT NULL,
    PRIMARY KEY (offer_id, observed_at)
) WITHOUT ROWID;

-- Outside hints that a page changed, by the hint's own time stamp.
CREATE TABLE signal (
    page_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    changed_at REAL NOT NULL,
    seen_at REAL NOT NULL,
    PRIMARY KEY (page_id, kind, changed_at)
) WITHOUT ROWID;

-- Links that were not followed, by named reason.
CREATE TABLE dropped (
    site_id INTEGER NOT NULL,
    reason TEXT NOT NULL,
    links INTEGER NOT NULL,
    PRIMARY KEY (site_id, reason)
) WITHOUT ROWID;

CREATE VIEW outlink AS
SELECT source_id AS source_page_id, id AS target_page_id, how, discovered_at AS first_seen_at
FROM page WHERE source_id IS NOT NULL;

CREATE VIEW price_history AS
SELECT page.url, offer.key, offer.title, price.observed_at, price.price_micros / 1e6 AS price,
    price.currency, price.availability
FROM price JOIN offer ON offer.id = price.offer_id JOIN page ON page.id = offer.page_id;
"""

MIGRATIONS: tuple[str, ...] = (SCHEMA_1,)
"""Step n brings `PRAGMA user_version` from n to n + 1."""
