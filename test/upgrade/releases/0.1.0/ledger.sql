CREATE TABLE ledger_account (
      account TEXT NOT NULL PRIMARY KEY,
      asset_code TEXT NOT NULL,
      asset_scale INTEGER NOT NULL,
      can_send INTEGER NOT NULL,
      can_receive INTEGER NOT NULL,
      balance TEXT NOT NULL,
      held TEXT NOT NULL
    );
CREATE TABLE ledger_entry (
      sequence INTEGER PRIMARY KEY,
      transfer TEXT NOT NULL,
      account TEXT NOT NULL,
      amount TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      UNIQUE (transfer, account)
    );
CREATE TABLE ledger_transfer (
      id TEXT NOT NULL PRIMARY KEY,
      type TEXT NOT NULL,
      account TEXT NOT NULL,
      amount TEXT NOT NULL,
      asset_code TEXT NOT NULL,
      asset_scale INTEGER NOT NULL,
      counterparty TEXT NOT NULL,
      state TEXT NOT NULL,
      settled_amount TEXT,
      settled_fee TEXT
    , created_at BIGINT);
CREATE TABLE op_meta (name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, readable_from INTEGER NOT NULL);
CREATE INDEX ledger_entry_account ON ledger_entry (account, sequence);
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('alice', 'USD', 2, 1, 1, '99980', '60');
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('bob', 'USD', 2, 1, 1, '42', '0');
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('carol', 'EUR', 4, 1, 1, '0', '0');
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('clearing:USD:2', 'USD', 2, 0, 0, '-22', '0');
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (1, 'opening:alice', 'alice', '100000', 1795418393432);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (2, 'eb601b40834f2b57cb2291a3f3f3163f', 'clearing:USD:2', '-10', 1795418393520);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (3, 'eb601b40834f2b57cb2291a3f3f3163f', 'bob', '10', 1795418393520);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (4, 'a4b6e7498eab9a7e68bea16abaa27272', 'alice', '-10', 1795418393520);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (5, 'a4b6e7498eab9a7e68bea16abaa27272', 'clearing:USD:2', '10', 1795418393520);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (6, 'e6386dcb2256783d1b393c61cd569350', 'clearing:USD:2', '-10', 1795418393570);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (7, 'e6386dcb2256783d1b393c61cd569350', 'bob', '10', 1795418393570);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (8, 'c63b91325f79cdd4633eab719cdc3427', 'clearing:USD:2', '-10', 1795418393576);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (9, 'c63b91325f79cdd4633eab719cdc3427', 'bob', '10', 1795418393576);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (10, '92deed16edd86f3229622d505aa06c3a', 'clearing:USD:2', '-10', 1795418393582);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (11, '92deed16edd86f3229622d505aa06c3a', 'bob', '10', 1795418393583);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (12, '12e506e4e62b3e32c582223d070724ef', 'alice', '-10', 1795418393583);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (13, '12e506e4e62b3e32c582223d070724ef', 'clearing:USD:2', '10', 1795418393583);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (14, '00000000000000000000000000000001', 'clearing:USD:2', '-2', 1795418393596);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (15, '00000000000000000000000000000001', 'bob', '2', 1795418393596);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('00000000000000000000000000000001', 'credit', 'bob', '2', 'USD', 2, '["rail","ilp","g.peer/USD/2"]', 'credited', null, null, 1795418393596);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('081a80f33e154288a58bd9bfb8509791', 'credit', 'bob', '10', 'USD', 2, '["local","alice","d0315afb4c4a690c63cb5d03c44aeb17"]', 'not_allowed', null, null, 1795418393543);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('12e506e4e62b3e32c582223d070724ef', 'hold', 'alice', '10', 'USD', 2, '["local","bob","7f7461d83849fc544b27080064bab57a"]', 'settled', '10', '0', 1795418393582);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('5959e2c0adb9a8c12428c4e54fa1ac1f', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795418393613);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('6dfc52797a63c4d6b49e978b38fa440e', 'credit', 'bob', '10', 'USD', 2, '["local","alice","0cdd9815c07d186843176a311dca68f5"]', 'not_allowed', null, null, 1795418393547);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('7880c53c9fcff45e60e1cf9edb61106a', 'hold', 'alice', '10', 'USD', 2, '["local","bob","a5422ef6cfab17d0c635a378a6a0ff9a"]', 'not_allowed', null, null, 1795418393537);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('8f13e7c9de0555568779882c52b2a540', 'hold', 'alice', '10', 'USD', 2, '["local","bob","088fc117ec9aa4ffa0f13ff50aa8fa9a"]', 'held', null, null, 1795418393569);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('92deed16edd86f3229622d505aa06c3a', 'credit', 'bob', '10', 'USD', 2, '["local","alice","7f7461d83849fc544b27080064bab57a"]', 'credited', null, null, 1795418393583);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('a4b6e7498eab9a7e68bea16abaa27272', 'hold', 'alice', '10', 'USD', 2, '["local","bob","bc0efbacde2d91089001ec063cfe50ed"]', 'settled', '10', '0', 1795418393511);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('a867b8e32b23d9fbf66af939cf879423', 'hold', 'alice', '10', 'USD', 2, '["local","bob","d0315afb4c4a690c63cb5d03c44aeb17"]', 'released', null, null, 1795418393542);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('b21ab45438d14d521441f1ac9bdb5e09', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795418393606);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('bb8857373739ba46c8a715589600c75f', 'hold', 'alice', '10', 'USD', 2, '["local","bob","0cdd9815c07d186843176a311dca68f5"]', 'held', null, null, 1795418393546);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('c63b91325f79cdd4633eab719cdc3427', 'credit', 'bob', '10', 'USD', 2, '["local","alice","bf5f178e1fe48588f6b74fc881f0680c"]', 'credited', null, null, 1795418393576);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('d046303fc64d41a30be4dbf6bf89b6d3', 'hold', 'alice', '10', 'USD', 2, '["local","bob","3144eaf5664f8ec8c6cc98caa68fe1c3"]', 'held', null, null, 1795418393558);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('e6386dcb2256783d1b393c61cd569350', 'credit', 'bob', '10', 'USD', 2, '["local","alice","088fc117ec9aa4ffa0f13ff50aa8fa9a"]', 'credited', null, null, 1795418393570);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('eb601b40834f2b57cb2291a3f3f3163f', 'credit', 'bob', '10', 'USD', 2, '["local","alice","bc0efbacde2d91089001ec063cfe50ed"]', 'credited', null, null, 1795418393520);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('f07e1588540710c1e7d73cb2ce00e228', 'hold', 'alice', '10', 'USD', 2, '["local","bob","bf5f178e1fe48588f6b74fc881f0680c"]', 'held', null, null, 1795418393575);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('f4b87998348e40bed20c4a2c3717bd80', 'hold', 'alice', '10', 'USD', 2, '["local","bob","c3a1cb52ae2a0aa5dbddd4e8e6f4fda6"]', 'held', null, null, 1795418393564);
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 2, 1);
