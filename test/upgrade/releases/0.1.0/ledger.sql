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
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (1, 'opening:alice', 'alice', '100000', 1795411510045);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (2, '34d665a6737badc7aa9eb6d583b32c6b', 'clearing:USD:2', '-10', 1795411510192);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (3, '34d665a6737badc7aa9eb6d583b32c6b', 'bob', '10', 1795411510192);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (4, '72ed3c38a74ba91966049fb2da7d8177', 'alice', '-10', 1795411510193);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (5, '72ed3c38a74ba91966049fb2da7d8177', 'clearing:USD:2', '10', 1795411510193);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (6, '3d2c2e9ad4908a2eccd035f2d868dcc1', 'clearing:USD:2', '-10', 1795411510289);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (7, '3d2c2e9ad4908a2eccd035f2d868dcc1', 'bob', '10', 1795411510290);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (8, '5dadf283f9f8332f5bc23a835bff596c', 'clearing:USD:2', '-10', 1795411510298);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (9, '5dadf283f9f8332f5bc23a835bff596c', 'bob', '10', 1795411510298);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (10, '9d53d84598d4c782de6996cdd3c5b233', 'clearing:USD:2', '-10', 1795411510306);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (11, '9d53d84598d4c782de6996cdd3c5b233', 'bob', '10', 1795411510306);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (12, 'd2979c29d86ac606a508a1e2d4fc2a50', 'alice', '-10', 1795411510306);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (13, 'd2979c29d86ac606a508a1e2d4fc2a50', 'clearing:USD:2', '10', 1795411510306);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (14, '00000000000000000000000000000001', 'clearing:USD:2', '-2', 1795411510322);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (15, '00000000000000000000000000000001', 'bob', '2', 1795411510322);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('00000000000000000000000000000001', 'credit', 'bob', '2', 'USD', 2, '["rail","ilp","g.peer/USD/2"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('03be8ac45703458b5f4aaac22dca799f', 'credit', 'bob', '10', 'USD', 2, '["local","alice","229ed11ab202c6e7f664f21b4d27dbe6"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('1558f21485fea7cceea03176650737f9', 'hold', 'alice', '10', 'USD', 2, '["local","bob","ba25d2b61aa404638ceb2b1d16256de3"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('2fc949591c8f0b9d4c9339d23932d54e', 'hold', 'alice', '10', 'USD', 2, '["local","bob","229ed11ab202c6e7f664f21b4d27dbe6"]', 'released', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('34d665a6737badc7aa9eb6d583b32c6b', 'credit', 'bob', '10', 'USD', 2, '["local","alice","b29b444d0eeed63fbb6cbccaa58f31a6"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('3d2c2e9ad4908a2eccd035f2d868dcc1', 'credit', 'bob', '10', 'USD', 2, '["local","alice","b377c85831f1fc6a85b9890a9a97cf1c"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('3efb0f3d4a35967f7a215c9eb3108089', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('46587d7f476e0c8caa5ce3a089d824aa', 'credit', 'bob', '10', 'USD', 2, '["local","alice","ba9c1eb4c0f88c6c639b29917be62a33"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('47d92bd8079d3c5ed689d93f74d6efc6', 'hold', 'alice', '10', 'USD', 2, '["local","bob","29ecb7e0531a6219d7f581614545eb28"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('4f4c0f792bffa878dd26dde0e29cdd78', 'hold', 'alice', '10', 'USD', 2, '["local","bob","92116bd0bade9822ebef8d7b58ff30a1"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('5dadf283f9f8332f5bc23a835bff596c', 'credit', 'bob', '10', 'USD', 2, '["local","alice","29ecb7e0531a6219d7f581614545eb28"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('72ed3c38a74ba91966049fb2da7d8177', 'hold', 'alice', '10', 'USD', 2, '["local","bob","b29b444d0eeed63fbb6cbccaa58f31a6"]', 'settled', '10', '0');
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('77d115c1fe33f19bd5288312d7bb5cf9', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('78d85e3d609b315db99e303362324cf2', 'hold', 'alice', '10', 'USD', 2, '["local","bob","ba9c1eb4c0f88c6c639b29917be62a33"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('7f61c792546b47c369796dd74b8bab17', 'hold', 'alice', '10', 'USD', 2, '["local","bob","b377c85831f1fc6a85b9890a9a97cf1c"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('9d53d84598d4c782de6996cdd3c5b233', 'credit', 'bob', '10', 'USD', 2, '["local","alice","fba4684333d933995c574ff686cc14d7"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('ad5fded7aab4d690c83bbf89dfc8c3b1', 'hold', 'alice', '10', 'USD', 2, '["local","bob","4f11a238fc21c8d079366401437a320e"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('d2979c29d86ac606a508a1e2d4fc2a50', 'hold', 'alice', '10', 'USD', 2, '["local","bob","fba4684333d933995c574ff686cc14d7"]', 'settled', '10', '0');
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 1, 1);
