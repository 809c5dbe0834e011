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
    );
CREATE TABLE op_meta (name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, readable_from INTEGER NOT NULL);
CREATE INDEX ledger_entry_account ON ledger_entry (account, sequence);
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('alice', 'USD', 2, 1, 1, '99980', '60');
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('bob', 'USD', 2, 1, 1, '42', '0');
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('carol', 'EUR', 4, 1, 1, '0', '0');
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('clearing:USD:2', 'USD', 2, 0, 0, '-22', '0');
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (1, 'opening:alice', 'alice', '100000', 1795405148747);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (2, '9809184d5d35e8198c5ad4c327b266fe', 'clearing:USD:2', '-10', 1795405149085);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (3, '9809184d5d35e8198c5ad4c327b266fe', 'bob', '10', 1795405149085);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (4, '2bff60d683068288f6ad6946a32bb172', 'alice', '-10', 1795405149086);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (5, '2bff60d683068288f6ad6946a32bb172', 'clearing:USD:2', '10', 1795405149086);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (6, '67911cd01402cc9af24cda3c09e76fcf', 'clearing:USD:2', '-10', 1795405149283);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (7, '67911cd01402cc9af24cda3c09e76fcf', 'bob', '10', 1795405149283);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (8, 'ae79a367e7010e75e75a000a7c4798e8', 'clearing:USD:2', '-10', 1795405149300);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (9, 'ae79a367e7010e75e75a000a7c4798e8', 'bob', '10', 1795405149300);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (10, '440e2e10f06ab2e6a93ae6a119d3a844', 'clearing:USD:2', '-10', 1795405149326);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (11, '440e2e10f06ab2e6a93ae6a119d3a844', 'bob', '10', 1795405149326);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (12, 'fb332986da66011193424590c8430dc0', 'alice', '-10', 1795405149326);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (13, 'fb332986da66011193424590c8430dc0', 'clearing:USD:2', '10', 1795405149326);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (14, '00000000000000000000000000000001', 'clearing:USD:2', '-2', 1795405149393);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (15, '00000000000000000000000000000001', 'bob', '2', 1795405149393);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('00000000000000000000000000000001', 'credit', 'bob', '2', 'USD', 2, '["rail","ilp","g.peer/USD/2"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('24574e5c2ed9b752a63d6696aa9eeda2', 'credit', 'bob', '10', 'USD', 2, '["local","alice","8ce0eff552437a8170075e6b9a9575e4"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('291fe89010791aaf60a388e507f9ca1a', 'hold', 'alice', '10', 'USD', 2, '["local","bob","8ce0eff552437a8170075e6b9a9575e4"]', 'released', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('2bff60d683068288f6ad6946a32bb172', 'hold', 'alice', '10', 'USD', 2, '["local","bob","0c2fdfbe8810fbcfa25f50815273822b"]', 'settled', '10', '0');
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('440e2e10f06ab2e6a93ae6a119d3a844', 'credit', 'bob', '10', 'USD', 2, '["local","alice","2af77fa3a446228e5a6e3c4a01ce4041"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('4903707aaf2597146f46766b2ea6583e', 'hold', 'alice', '10', 'USD', 2, '["local","bob","f4081ab4e6f7a41c595354fdd594f610"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('5c7f578300fa875b200b42292ef1b220', 'hold', 'alice', '10', 'USD', 2, '["local","bob","8eb6fc423c9231e18c7f003c0bb68478"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('67911cd01402cc9af24cda3c09e76fcf', 'credit', 'bob', '10', 'USD', 2, '["local","alice","45ab1f699415e899f3c824a43e35c661"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('864ad674a1eedafc85755f9765a8569a', 'hold', 'alice', '10', 'USD', 2, '["local","bob","c9870f4d2b446a74f51be561aed6de3b"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('9809184d5d35e8198c5ad4c327b266fe', 'credit', 'bob', '10', 'USD', 2, '["local","alice","0c2fdfbe8810fbcfa25f50815273822b"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('a4b718c1f0bab88509f15875796e50f0', 'hold', 'alice', '10', 'USD', 2, '["local","bob","9adea485bf092c9f04bb5f7628bd6756"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('ae79a367e7010e75e75a000a7c4798e8', 'credit', 'bob', '10', 'USD', 2, '["local","alice","c9870f4d2b446a74f51be561aed6de3b"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('b5d603a10bb39795d484b701917967f9', 'hold', 'alice', '10', 'USD', 2, '["local","bob","45ab1f699415e899f3c824a43e35c661"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('df83b09f284516188b95706d0bb163b6', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('e56fc41b22e6397a53f95a4ee551e533', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('f8881940e7a6d7785b736e6e3d4ff301', 'hold', 'alice', '10', 'USD', 2, '["local","bob","567f370a78109d2a78e847e302a43026"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('fb332986da66011193424590c8430dc0', 'hold', 'alice', '10', 'USD', 2, '["local","bob","2af77fa3a446228e5a6e3c4a01ce4041"]', 'settled', '10', '0');
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('fff399e70c5dad988516e58b0406ff7a', 'credit', 'bob', '10', 'USD', 2, '["local","alice","f4081ab4e6f7a41c595354fdd594f610"]', 'not_allowed', null, null);
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 1, 1);
