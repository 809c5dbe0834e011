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
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (1, 'opening:alice', 'alice', '100000', 1795416612157);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (2, 'c82eda453ae275695cd32efd8548d225', 'clearing:USD:2', '-10', 1795416612307);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (3, 'c82eda453ae275695cd32efd8548d225', 'bob', '10', 1795416612307);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (4, '7ea266d4fff4bfdec3b786acbc6921a7', 'alice', '-10', 1795416612307);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (5, '7ea266d4fff4bfdec3b786acbc6921a7', 'clearing:USD:2', '10', 1795416612307);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (6, 'e5cd46c0bfa33b8c6ee285adf015578d', 'clearing:USD:2', '-10', 1795416612372);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (7, 'e5cd46c0bfa33b8c6ee285adf015578d', 'bob', '10', 1795416612372);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (8, 'b64313797b8eadd3fa4abfebb230184c', 'clearing:USD:2', '-10', 1795416612380);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (9, 'b64313797b8eadd3fa4abfebb230184c', 'bob', '10', 1795416612380);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (10, '48507e8cfbb572555bb394555ea593ea', 'clearing:USD:2', '-10', 1795416612389);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (11, '48507e8cfbb572555bb394555ea593ea', 'bob', '10', 1795416612389);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (12, '2db2327e32eb984eadab871c47969821', 'alice', '-10', 1795416612390);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (13, '2db2327e32eb984eadab871c47969821', 'clearing:USD:2', '10', 1795416612390);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (14, '00000000000000000000000000000001', 'clearing:USD:2', '-2', 1795416612403);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (15, '00000000000000000000000000000001', 'bob', '2', 1795416612403);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('00000000000000000000000000000001', 'credit', 'bob', '2', 'USD', 2, '["rail","ilp","g.peer/USD/2"]', 'credited', null, null, 1795416612403);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('0fc6bc85eb39dc48ae22be6b426d6112', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795416612409);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('2db2327e32eb984eadab871c47969821', 'hold', 'alice', '10', 'USD', 2, '["local","bob","5d775bf5a3aca7a4ddfdbdd23993f0d5"]', 'settled', '10', '0', 1795416612389);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('48507e8cfbb572555bb394555ea593ea', 'credit', 'bob', '10', 'USD', 2, '["local","alice","5d775bf5a3aca7a4ddfdbdd23993f0d5"]', 'credited', null, null, 1795416612389);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('4d83b7b2a629eccfd9dbabea571f9ac9', 'credit', 'bob', '10', 'USD', 2, '["local","alice","c583660efb553d5e0a373a8677c003eb"]', 'not_allowed', null, null, 1795416612343);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('68b3422afbbc43a428a7cf26e387cb49', 'hold', 'alice', '10', 'USD', 2, '["local","bob","8c1853fcd55f41d17026edc6e898b9ea"]', 'held', null, null, 1795416612368);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('7b9dafbacbd3ce62da71c86bf82736d8', 'hold', 'alice', '10', 'USD', 2, '["local","bob","17c3350a7ad8852160c704734e66971e"]', 'held', null, null, 1795416612357);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('7e6c2b53870b98f3e612e5c9da0f1cb7', 'hold', 'alice', '10', 'USD', 2, '["local","bob","b4fce389d959821d8331207427862be6"]', 'held', null, null, 1795416612378);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('7ea266d4fff4bfdec3b786acbc6921a7', 'hold', 'alice', '10', 'USD', 2, '["local","bob","cbc17dde5d31c1a18c130c4219179f20"]', 'settled', '10', '0', 1795416612299);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('b64313797b8eadd3fa4abfebb230184c', 'credit', 'bob', '10', 'USD', 2, '["local","alice","b4fce389d959821d8331207427862be6"]', 'credited', null, null, 1795416612380);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('c0710e00db00e415548b704d3ffe8785', 'hold', 'alice', '10', 'USD', 2, '["local","bob","6fdabfb4d4d1ebdf71224f16d2544b32"]', 'not_allowed', null, null, 1795416612332);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('c82eda453ae275695cd32efd8548d225', 'credit', 'bob', '10', 'USD', 2, '["local","alice","cbc17dde5d31c1a18c130c4219179f20"]', 'credited', null, null, 1795416612307);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('c9c177d8be16d7db61dcf7a964fcafb5', 'hold', 'alice', '10', 'USD', 2, '["local","bob","39ff48eddcf15b58934ce49e38644ee1"]', 'held', null, null, 1795416612363);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('d54073f97f7f2dc5cb9a25c509d59a89', 'hold', 'alice', '10', 'USD', 2, '["local","bob","330a8c1ecebb453159253e8a7e155443"]', 'released', null, null, 1795416612337);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('e48bddee3003625a2de0c74c9e70c6e6', 'hold', 'alice', '10', 'USD', 2, '["local","bob","c583660efb553d5e0a373a8677c003eb"]', 'held', null, null, 1795416612343);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('e5cd46c0bfa33b8c6ee285adf015578d', 'credit', 'bob', '10', 'USD', 2, '["local","alice","8c1853fcd55f41d17026edc6e898b9ea"]', 'credited', null, null, 1795416612372);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('e607801d11c31572e97fe3f78e6a435a', 'credit', 'bob', '10', 'USD', 2, '["local","alice","330a8c1ecebb453159253e8a7e155443"]', 'not_allowed', null, null, 1795416612338);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('f69849d7b4312977986010bd7092c3cb', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795416612415);
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 2, 1);
