CREATE TABLE IF NOT EXISTS op_meta (name TEXT COLLATE "C" NOT NULL PRIMARY KEY, version INTEGER NOT NULL, readable_from INTEGER NOT NULL);
INSERT INTO op_meta VALUES ('storage', 0, 0) ON CONFLICT (name) DO NOTHING;
WITH held AS (UPDATE op_meta SET version = version WHERE name = 'storage' AND version = 0 RETURNING 1)
      SELECT CAST(CAST(NULLIF(count(*), 1) AS VARCHAR) || ' rows: op_meta has moved on' AS INTEGER) FROM held;
SET LOCAL lock_timeout = '500ms';
CREATE TABLE IF NOT EXISTS op_grant (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    state TEXT COLLATE "C" NOT NULL,
    finalisation TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    client TEXT COLLATE "C" NOT NULL,
    client_key TEXT COLLATE "C",
    keys TEXT COLLATE "C" NOT NULL,
    access TEXT COLLATE "C" NOT NULL,
    wallet_address TEXT COLLATE "C",
    account TEXT COLLATE "C",
    subject INTEGER NOT NULL,
    secret_id TEXT COLLATE "C" NOT NULL,
    continuation_hash TEXT COLLATE "C" NOT NULL,
    continue_after BIGINT NOT NULL,
    finish TEXT COLLATE "C",
    interact_ref_hash TEXT COLLATE "C",
    wrong_references INTEGER NOT NULL,
    issued_at BIGINT,
    token_id TEXT COLLATE "C",
    consent_hash TEXT COLLATE "C",
    decided_at BIGINT,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    is_listed INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE IF NOT EXISTS op_interaction (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    grant_id TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    client_name TEXT COLLATE "C",
    session_hash TEXT COLLATE "C",
    consent_hash TEXT COLLATE "C",
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE IF NOT EXISTS op_access_token (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    manage_id TEXT COLLATE "C" NOT NULL,
    secret_id TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    grant_id TEXT COLLATE "C" NOT NULL,
    client TEXT COLLATE "C" NOT NULL,
    client_key TEXT COLLATE "C",
    keys TEXT COLLATE "C" NOT NULL,
    access TEXT COLLATE "C" NOT NULL,
    wallet_address TEXT COLLATE "C",
    account TEXT COLLATE "C",
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    rotated_at BIGINT,
    successor_id TEXT COLLATE "C",
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE IF NOT EXISTS op_incoming_payment (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    wallet_address TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    client TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    incoming_amount_value TEXT COLLATE "C",
    incoming_amount_asset_code TEXT COLLATE "C",
    incoming_amount_asset_scale INTEGER,
    received_value TEXT COLLATE "C" NOT NULL,
    received_asset_code TEXT COLLATE "C" NOT NULL,
    received_asset_scale INTEGER NOT NULL,
    reserved_value TEXT COLLATE "C" NOT NULL,
    reserved_asset_code TEXT COLLATE "C" NOT NULL,
    reserved_asset_scale INTEGER NOT NULL,
    metadata TEXT COLLATE "C",
    secret_id TEXT COLLATE "C" NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    is_listed INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE IF NOT EXISTS op_quote (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    wallet_address TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    client TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    receiver TEXT COLLATE "C" NOT NULL,
    debit_amount_value TEXT COLLATE "C" NOT NULL,
    debit_amount_asset_code TEXT COLLATE "C" NOT NULL,
    debit_amount_asset_scale INTEGER NOT NULL,
    receive_amount_value TEXT COLLATE "C" NOT NULL,
    receive_amount_asset_code TEXT COLLATE "C" NOT NULL,
    receive_amount_asset_scale INTEGER NOT NULL,
    fee_value TEXT COLLATE "C" NOT NULL,
    fee_asset_code TEXT COLLATE "C" NOT NULL,
    fee_asset_scale INTEGER NOT NULL,
    receive_worth TEXT COLLATE "C",
    rail TEXT COLLATE "C",
    outgoing_payment_id TEXT COLLATE "C",
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE IF NOT EXISTS op_outgoing_payment (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    wallet_address TEXT COLLATE "C" NOT NULL,
    client TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    states TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    quote_id TEXT COLLATE "C",
    receiver TEXT COLLATE "C" NOT NULL,
    debit_amount_value TEXT COLLATE "C" NOT NULL,
    debit_amount_asset_code TEXT COLLATE "C" NOT NULL,
    debit_amount_asset_scale INTEGER NOT NULL,
    receive_amount_value TEXT COLLATE "C" NOT NULL,
    receive_amount_asset_code TEXT COLLATE "C" NOT NULL,
    receive_amount_asset_scale INTEGER NOT NULL,
    fee_value TEXT COLLATE "C" NOT NULL,
    fee_asset_code TEXT COLLATE "C" NOT NULL,
    fee_asset_scale INTEGER NOT NULL,
    receive_charge TEXT COLLATE "C",
    sent_amount_value TEXT COLLATE "C" NOT NULL,
    sent_amount_asset_code TEXT COLLATE "C" NOT NULL,
    sent_amount_asset_scale INTEGER NOT NULL,
    metadata TEXT COLLATE "C",
    account TEXT COLLATE "C" NOT NULL,
    incoming_payment_id TEXT COLLATE "C",
    payee_account TEXT COLLATE "C",
    rail TEXT COLLATE "C",
    delivery TEXT COLLATE "C",
    grant_id TEXT COLLATE "C" NOT NULL,
    spending_ids TEXT COLLATE "C" NOT NULL,
    charged_after TEXT COLLATE "C",
    decision_action TEXT COLLATE "C",
    decision_amount TEXT COLLATE "C",
    decision_fee TEXT COLLATE "C",
    decision_reason TEXT COLLATE "C",
    attempts INTEGER NOT NULL,
    key_id TEXT COLLATE "C",
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    is_listed INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE IF NOT EXISTS op_spending (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    last_charge TEXT COLLATE "C",
    debit_value TEXT COLLATE "C" NOT NULL,
    debit_asset_code TEXT COLLATE "C" NOT NULL,
    debit_asset_scale INTEGER NOT NULL,
    receive TEXT COLLATE "C" NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE IF NOT EXISTS op_receipt (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    incoming_payment_id TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    amount_value TEXT COLLATE "C" NOT NULL,
    amount_asset_code TEXT COLLATE "C" NOT NULL,
    amount_asset_scale INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    outgoing_payment_id TEXT COLLATE "C",
    excess TEXT COLLATE "C",
    payee_account TEXT COLLATE "C",
    rail_account_id TEXT COLLATE "C",
    rail_amount TEXT COLLATE "C",
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE IF NOT EXISTS op_rail_account (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    asset_code TEXT COLLATE "C" NOT NULL,
    asset_scale INTEGER NOT NULL,
    sent TEXT COLLATE "C" NOT NULL,
    in_flight TEXT COLLATE "C" NOT NULL,
    received TEXT COLLATE "C" NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE IF NOT EXISTS op_replay_claim (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE IF NOT EXISTS op_event (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    event TEXT COLLATE "C" NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE IF NOT EXISTS op_idempotency_key (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    body_hash TEXT COLLATE "C" NOT NULL,
    resource_id TEXT COLLATE "C" NOT NULL,
    answer TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE IF NOT EXISTS op_signed_request (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    public_key TEXT COLLATE "C" NOT NULL,
    signature TEXT COLLATE "C" NOT NULL,
    base TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    token_secret_id TEXT COLLATE "C" NOT NULL,
    token_manage_id TEXT COLLATE "C" NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE INDEX IF NOT EXISTS op_grant_list ON op_grant (wallet_address, created_at DESC, id DESC) WHERE is_listed = 1;
CREATE INDEX IF NOT EXISTS op_grant_client ON op_grant (wallet_address, client, created_at DESC, id DESC) WHERE is_listed = 1;
CREATE INDEX IF NOT EXISTS op_incoming_payment_list ON op_incoming_payment (wallet_address, created_at DESC, id DESC) WHERE is_listed = 1;
CREATE INDEX IF NOT EXISTS op_incoming_payment_client ON op_incoming_payment (wallet_address, client, created_at DESC, id DESC) WHERE is_listed = 1;
CREATE INDEX IF NOT EXISTS op_outgoing_payment_list ON op_outgoing_payment (wallet_address, created_at DESC, id DESC) WHERE is_listed = 1;
CREATE INDEX IF NOT EXISTS op_outgoing_payment_client ON op_outgoing_payment (wallet_address, client, created_at DESC, id DESC) WHERE is_listed = 1;
CREATE INDEX IF NOT EXISTS op_grant_due ON op_grant (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS op_interaction_due ON op_interaction (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS op_access_token_due ON op_access_token (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS op_incoming_payment_due ON op_incoming_payment (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS op_quote_due ON op_quote (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS op_outgoing_payment_due ON op_outgoing_payment (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS op_spending_due ON op_spending (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS op_receipt_due ON op_receipt (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS op_rail_account_due ON op_rail_account (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS op_replay_claim_due ON op_replay_claim (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS op_event_due ON op_event (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS op_idempotency_key_due ON op_idempotency_key (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS op_signed_request_due ON op_signed_request (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
UPDATE op_meta SET version = 1, readable_from = 1 WHERE name = 'storage' AND version = 0;
