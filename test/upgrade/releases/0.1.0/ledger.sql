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
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (1, 'opening:alice', 'alice', '100000', 1795416921328);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (2, '13e37b4fcb3223d65e0c179d56437947', 'clearing:USD:2', '-10', 1795416921421);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (3, '13e37b4fcb3223d65e0c179d56437947', 'bob', '10', 1795416921421);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (4, 'd09fa515734fee3b968408f7e414771d', 'alice', '-10', 1795416921421);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (5, 'd09fa515734fee3b968408f7e414771d', 'clearing:USD:2', '10', 1795416921421);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (6, 'fb4d6b7c23a36f5b528d8df62d4950f6', 'clearing:USD:2', '-10', 1795416921470);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (7, 'fb4d6b7c23a36f5b528d8df62d4950f6', 'bob', '10', 1795416921470);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (8, '1784415b535e3922cc802fe8ce1efc72', 'clearing:USD:2', '-10', 1795416921475);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (9, '1784415b535e3922cc802fe8ce1efc72', 'bob', '10', 1795416921475);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (10, '01a9a335e241c91bf6ce07b7333ff511', 'clearing:USD:2', '-10', 1795416921481);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (11, '01a9a335e241c91bf6ce07b7333ff511', 'bob', '10', 1795416921481);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (12, 'ecd0d4f52d4503a4082fd56e9a67bf5a', 'alice', '-10', 1795416921481);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (13, 'ecd0d4f52d4503a4082fd56e9a67bf5a', 'clearing:USD:2', '10', 1795416921481);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (14, '00000000000000000000000000000001', 'clearing:USD:2', '-2', 1795416921494);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (15, '00000000000000000000000000000001', 'bob', '2', 1795416921494);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('00000000000000000000000000000001', 'credit', 'bob', '2', 'USD', 2, '["rail","ilp","g.peer/USD/2"]', 'credited', null, null, 1795416921494);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('01a9a335e241c91bf6ce07b7333ff511', 'credit', 'bob', '10', 'USD', 2, '["local","alice","0c0afa6f444bf403404e36bfe5f2297c"]', 'credited', null, null, 1795416921481);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('047b06f1b47a6adf0b05bccf2a11274a', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795416921508);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('13e37b4fcb3223d65e0c179d56437947', 'credit', 'bob', '10', 'USD', 2, '["local","alice","7cd8b7959fd4dd1258ee42d667a5beda"]', 'credited', null, null, 1795416921421);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('1784415b535e3922cc802fe8ce1efc72', 'credit', 'bob', '10', 'USD', 2, '["local","alice","47045730f1ca8bf802452e8341479178"]', 'credited', null, null, 1795416921475);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('199cb87407b8d1ecda4b39bc183c7333', 'hold', 'alice', '10', 'USD', 2, '["local","bob","5b61853ccb886858aba636b17e3efe0f"]', 'held', null, null, 1795416921458);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('3222a54c9b0208644a085138bba4cacc', 'hold', 'alice', '10', 'USD', 2, '["local","bob","fa6e6a9055860916dd1321b41e4d6d80"]', 'held', null, null, 1795416921463);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('3309e0560840bcc1604d122d2ce539a5', 'credit', 'bob', '10', 'USD', 2, '["local","alice","e92771e7c0b6d26140544faf2dd66919"]', 'not_allowed', null, null, 1795416921447);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('4e35ae39a99f6609293ce84be22d24a8', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795416921502);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('5a8b90b70156893273b2cc4a2ad4fe70', 'hold', 'alice', '10', 'USD', 2, '["local","bob","eb1461bafa3a48820fd72d9fc59ba6b8"]', 'released', null, null, 1795416921442);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('6eb1a54769c29809755f6eef385f8da0', 'hold', 'alice', '10', 'USD', 2, '["local","bob","e92771e7c0b6d26140544faf2dd66919"]', 'held', null, null, 1795416921446);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('8f85c57c3f09235c889e7b49a0450a35', 'credit', 'bob', '10', 'USD', 2, '["local","alice","eb1461bafa3a48820fd72d9fc59ba6b8"]', 'not_allowed', null, null, 1795416921443);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('98d6cdcab8ffd4a0c0fa3ffa906e989b', 'hold', 'alice', '10', 'USD', 2, '["local","bob","9aed1466c04cdcce5f9bcd1031aa3ea6"]', 'not_allowed', null, null, 1795416921437);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('a28ff50613b2bfe2de8d11e2e9ba930f', 'hold', 'alice', '10', 'USD', 2, '["local","bob","75086ca8fbf01c8ff8754cd9572c33b3"]', 'held', null, null, 1795416921469);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('d09fa515734fee3b968408f7e414771d', 'hold', 'alice', '10', 'USD', 2, '["local","bob","7cd8b7959fd4dd1258ee42d667a5beda"]', 'settled', '10', '0', 1795416921410);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('eab6433f9737626061a77df97d8ce59a', 'hold', 'alice', '10', 'USD', 2, '["local","bob","47045730f1ca8bf802452e8341479178"]', 'held', null, null, 1795416921475);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('ecd0d4f52d4503a4082fd56e9a67bf5a', 'hold', 'alice', '10', 'USD', 2, '["local","bob","0c0afa6f444bf403404e36bfe5f2297c"]', 'settled', '10', '0', 1795416921480);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('fb4d6b7c23a36f5b528d8df62d4950f6', 'credit', 'bob', '10', 'USD', 2, '["local","alice","75086ca8fbf01c8ff8754cd9572c33b3"]', 'credited', null, null, 1795416921470);
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 2, 1);
