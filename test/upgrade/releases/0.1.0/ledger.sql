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
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (1, 'opening:alice', 'alice', '100000', 1795765074183);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (2, '1fb668aed27ca2d90edd8e291a778c59', 'clearing:USD:2', '-10', 1795765074405);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (3, '1fb668aed27ca2d90edd8e291a778c59', 'bob', '10', 1795765074405);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (4, '698729da6ff746edad7fa907db2757cb', 'alice', '-10', 1795765074410);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (5, '698729da6ff746edad7fa907db2757cb', 'clearing:USD:2', '10', 1795765074410);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (6, 'f2df71cb850440bd8afb64f600f8c849', 'clearing:USD:2', '-10', 1795765074488);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (7, 'f2df71cb850440bd8afb64f600f8c849', 'bob', '10', 1795765074488);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (8, '9007058a6770ecd46344bd42cdb9d380', 'clearing:USD:2', '-10', 1795765074496);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (9, '9007058a6770ecd46344bd42cdb9d380', 'bob', '10', 1795765074496);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (10, 'ceb668bd19486a3d2c0761517f272d68', 'clearing:USD:2', '-10', 1795765074506);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (11, 'ceb668bd19486a3d2c0761517f272d68', 'bob', '10', 1795765074506);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (12, '2b5992f4f8369823361a4b559d7c25cc', 'alice', '-10', 1795765074507);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (13, '2b5992f4f8369823361a4b559d7c25cc', 'clearing:USD:2', '10', 1795765074507);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (14, '00000000000000000000000000000001', 'clearing:USD:2', '-2', 1795765074524);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (15, '00000000000000000000000000000001', 'bob', '2', 1795765074524);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('00000000000000000000000000000001', 'credit', 'bob', '2', 'USD', 2, '["rail","ilp","g.peer/USD/2"]', 'credited', null, null, 1795765074524);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('0a679462eb15565d10354f1b73bd617b', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d883ecc91a0d1a769625a2c92ef6c9ee656"]', 'held', null, null, 1795765074473);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('1fb668aed27ca2d90edd8e291a778c59', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d88f5536215845625f537b5528b5b73820d"]', 'credited', null, null, 1795765074405);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('2b5992f4f8369823361a4b559d7c25cc', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d88f3d53c62a5db3e06b4691964d25645a3"]', 'settled', '10', '0', 1795765074505);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('4ee5a52c52ed346b795a23902091bcac', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795765074538);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('5b7f5e062d2a75aa4ba656d3f85b642f', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795765074549);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('656e0a73d31d38dfd582791713d61a8b', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d88672b3a6b539622b4b8f46bb1cf1642e0"]', 'not_allowed', null, null, 1795765074440);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('698729da6ff746edad7fa907db2757cb', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d88f5536215845625f537b5528b5b73820d"]', 'settled', '10', '0', 1795765074380);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('74925fb703fa2a5bb18efedc678acf9f', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d881b9c72add7594e6e9cf11914c87bd6b2"]', 'released', null, null, 1795765074447);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('7e421eab7b410691f2335f3bdde5264a', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d880cdf0df53c71c3456f2313244de24953"]', 'held', null, null, 1795765074480);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('9007058a6770ecd46344bd42cdb9d380', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d88a00daf1a482f50db299292117c33ea12"]', 'credited', null, null, 1795765074496);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('98f478a3af25e5c5b433100114fb25dd', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d88f2df1698582e9b2d65ab75dfd15a1498"]', 'held', null, null, 1795765074487);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('ac7343144f04a948d6d5fc6b3642c50c', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d881b9c72add7594e6e9cf11914c87bd6b2"]', 'not_allowed', null, null, 1795765074448);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('ceb668bd19486a3d2c0761517f272d68', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d88f3d53c62a5db3e06b4691964d25645a3"]', 'credited', null, null, 1795765074506);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('d1e3dcd742c00b82f046b2ef02d77373', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d88a00daf1a482f50db299292117c33ea12"]', 'held', null, null, 1795765074495);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('e130b38105a947e4850cb0e6e1a0b298', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d88a76342d08117da9961f62c2065437f25"]', 'held', null, null, 1795765074454);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('f2df71cb850440bd8afb64f600f8c849', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d88f2df1698582e9b2d65ab75dfd15a1498"]', 'credited', null, null, 1795765074488);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('f9f052c7c6c2b75da5e13191be636f91', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d88a76342d08117da9961f62c2065437f25"]', 'not_allowed', null, null, 1795765074456);
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 2, 1);
