CREATE TABLE op_access_token (
    id TEXT NOT NULL PRIMARY KEY,
    manage_id TEXT NOT NULL,
    secret_id TEXT NOT NULL,
    state TEXT NOT NULL,
    grant_id TEXT NOT NULL,
    client TEXT NOT NULL,
    client_key TEXT,
    keys TEXT NOT NULL,
    access TEXT NOT NULL,
    wallet_address TEXT,
    account TEXT,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    rotated_at BIGINT,
    successor_id TEXT,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE op_event (
    id TEXT NOT NULL PRIMARY KEY,
    event TEXT NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE op_grant (
    id TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,
    finalisation TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    client TEXT NOT NULL,
    client_key TEXT,
    keys TEXT NOT NULL,
    access TEXT NOT NULL,
    wallet_address TEXT,
    account TEXT,
    subject INTEGER NOT NULL,
    secret_id TEXT NOT NULL,
    continuation_hash TEXT NOT NULL,
    continue_after BIGINT NOT NULL,
    finish TEXT,
    interact_ref_hash TEXT,
    wrong_references INTEGER NOT NULL,
    issued_at BIGINT,
    token_id TEXT,
    consent_hash TEXT,
    decided_at BIGINT,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    is_listed INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE op_idempotency_key (
    id TEXT NOT NULL PRIMARY KEY,
    body_hash TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    answer TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE op_incoming_payment (
    id TEXT NOT NULL PRIMARY KEY,
    wallet_address TEXT NOT NULL,
    account TEXT NOT NULL,
    client TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    incoming_amount_value TEXT,
    incoming_amount_asset_code TEXT,
    incoming_amount_asset_scale INTEGER,
    received_value TEXT NOT NULL,
    received_asset_code TEXT NOT NULL,
    received_asset_scale INTEGER NOT NULL,
    reserved_value TEXT NOT NULL,
    reserved_asset_code TEXT NOT NULL,
    reserved_asset_scale INTEGER NOT NULL,
    metadata TEXT,
    secret_id TEXT NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    is_listed INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE op_interaction (
    id TEXT NOT NULL PRIMARY KEY,
    grant_id TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    client_name TEXT,
    session_hash TEXT,
    consent_hash TEXT,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE op_meta (name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, readable_from INTEGER NOT NULL);
CREATE TABLE op_outgoing_payment (
    id TEXT NOT NULL PRIMARY KEY,
    wallet_address TEXT NOT NULL,
    client TEXT NOT NULL,
    state TEXT NOT NULL,
    states TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    quote_id TEXT,
    receiver TEXT NOT NULL,
    debit_amount_value TEXT NOT NULL,
    debit_amount_asset_code TEXT NOT NULL,
    debit_amount_asset_scale INTEGER NOT NULL,
    receive_amount_value TEXT NOT NULL,
    receive_amount_asset_code TEXT NOT NULL,
    receive_amount_asset_scale INTEGER NOT NULL,
    fee_value TEXT NOT NULL,
    fee_asset_code TEXT NOT NULL,
    fee_asset_scale INTEGER NOT NULL,
    receive_charge TEXT,
    sent_amount_value TEXT NOT NULL,
    sent_amount_asset_code TEXT NOT NULL,
    sent_amount_asset_scale INTEGER NOT NULL,
    metadata TEXT,
    account TEXT NOT NULL,
    incoming_payment_id TEXT,
    payee_account TEXT,
    rail TEXT,
    delivery TEXT,
    grant_id TEXT NOT NULL,
    spending_ids TEXT NOT NULL,
    charged_after TEXT,
    decision_action TEXT,
    decision_amount TEXT,
    decision_fee TEXT,
    decision_reason TEXT,
    attempts INTEGER NOT NULL,
    key_id TEXT,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    is_listed INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE op_quote (
    id TEXT NOT NULL PRIMARY KEY,
    wallet_address TEXT NOT NULL,
    account TEXT NOT NULL,
    client TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    receiver TEXT NOT NULL,
    debit_amount_value TEXT NOT NULL,
    debit_amount_asset_code TEXT NOT NULL,
    debit_amount_asset_scale INTEGER NOT NULL,
    receive_amount_value TEXT NOT NULL,
    receive_amount_asset_code TEXT NOT NULL,
    receive_amount_asset_scale INTEGER NOT NULL,
    fee_value TEXT NOT NULL,
    fee_asset_code TEXT NOT NULL,
    fee_asset_scale INTEGER NOT NULL,
    receive_worth TEXT,
    rail TEXT,
    outgoing_payment_id TEXT,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE op_rail_account (
    id TEXT NOT NULL PRIMARY KEY,
    asset_code TEXT NOT NULL,
    asset_scale INTEGER NOT NULL,
    sent TEXT NOT NULL,
    in_flight TEXT NOT NULL,
    received TEXT NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE op_receipt (
    id TEXT NOT NULL PRIMARY KEY,
    incoming_payment_id TEXT NOT NULL,
    state TEXT NOT NULL,
    amount_value TEXT NOT NULL,
    amount_asset_code TEXT NOT NULL,
    amount_asset_scale INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    outgoing_payment_id TEXT,
    excess TEXT,
    payee_account TEXT,
    rail_account_id TEXT,
    rail_amount TEXT,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE op_replay_claim (
    id TEXT NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE op_signed_request (
    id TEXT NOT NULL PRIMARY KEY,
    public_key TEXT NOT NULL,
    signature TEXT NOT NULL,
    base TEXT NOT NULL,
    body TEXT NOT NULL,
    token_secret_id TEXT NOT NULL,
    token_manage_id TEXT NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE TABLE op_spending (
    id TEXT NOT NULL PRIMARY KEY,
    last_charge TEXT,
    debit_value TEXT NOT NULL,
    debit_asset_code TEXT NOT NULL,
    debit_asset_scale INTEGER NOT NULL,
    receive TEXT NOT NULL,
    due_at BIGINT,
    schema_version INTEGER NOT NULL,
    version BIGINT NOT NULL
  );
CREATE INDEX op_access_token_due ON op_access_token (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX op_event_due ON op_event (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX op_grant_client ON op_grant (wallet_address, client, created_at DESC, id DESC) WHERE is_listed = 1;
CREATE INDEX op_grant_due ON op_grant (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX op_grant_list ON op_grant (wallet_address, created_at DESC, id DESC) WHERE is_listed = 1;
CREATE INDEX op_idempotency_key_due ON op_idempotency_key (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX op_incoming_payment_client ON op_incoming_payment (wallet_address, client, created_at DESC, id DESC) WHERE is_listed = 1;
CREATE INDEX op_incoming_payment_due ON op_incoming_payment (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX op_incoming_payment_list ON op_incoming_payment (wallet_address, created_at DESC, id DESC) WHERE is_listed = 1;
CREATE INDEX op_interaction_due ON op_interaction (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX op_outgoing_payment_client ON op_outgoing_payment (wallet_address, client, created_at DESC, id DESC) WHERE is_listed = 1;
CREATE INDEX op_outgoing_payment_due ON op_outgoing_payment (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX op_outgoing_payment_list ON op_outgoing_payment (wallet_address, created_at DESC, id DESC) WHERE is_listed = 1;
CREATE INDEX op_quote_due ON op_quote (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX op_rail_account_due ON op_rail_account (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX op_receipt_due ON op_receipt (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX op_replay_claim_due ON op_replay_claim (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX op_signed_request_due ON op_signed_request (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
CREATE INDEX op_spending_due ON op_spending (due_at ASC, id ASC) WHERE due_at IS NOT NULL;
INSERT INTO op_meta (name, version, readable_from) VALUES ('storage', 1, 1);
