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
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (1, 'opening:alice', 'alice', '100000', 1795470169424);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (2, 'dc69f9d5ffcca3179aca5c4b66ac1240', 'clearing:USD:2', '-10', 1795470169982);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (3, 'dc69f9d5ffcca3179aca5c4b66ac1240', 'bob', '10', 1795470169982);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (4, '2a757c80e856fd51308c5f27b61c90d5', 'alice', '-10', 1795470169986);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (5, '2a757c80e856fd51308c5f27b61c90d5', 'clearing:USD:2', '10', 1795470169986);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (6, 'ebdb82704577433aa9b28c67b7b1dc30', 'clearing:USD:2', '-10', 1795470170260);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (7, 'ebdb82704577433aa9b28c67b7b1dc30', 'bob', '10', 1795470170260);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (8, '37986253f58207639949e84caca7695c', 'clearing:USD:2', '-10', 1795470170300);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (9, '37986253f58207639949e84caca7695c', 'bob', '10', 1795470170300);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (10, 'c09834a5fcc4ee5f7f2ec3e9321e291f', 'clearing:USD:2', '-10', 1795470170337);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (11, 'c09834a5fcc4ee5f7f2ec3e9321e291f', 'bob', '10', 1795470170337);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (12, 'ede476857e75d7f6783c49f293af8a4c', 'alice', '-10', 1795470170338);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (13, 'ede476857e75d7f6783c49f293af8a4c', 'clearing:USD:2', '10', 1795470170338);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (14, '00000000000000000000000000000001', 'clearing:USD:2', '-2', 1795470170397);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (15, '00000000000000000000000000000001', 'bob', '2', 1795470170397);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('00000000000000000000000000000001', 'credit', 'bob', '2', 'USD', 2, '["rail","ilp","g.peer/USD/2"]', 'credited', null, null, 1795470170397);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('2083cee01186227ef21eba056330033f', 'hold', 'alice', '10', 'USD', 2, '["local","bob","c4417905c818eba8359f0f123c2b761d"]', 'held', null, null, 1795470170118);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('2a757c80e856fd51308c5f27b61c90d5', 'hold', 'alice', '10', 'USD', 2, '["local","bob","cd8a970051b6781c2c81bac4e30f9766"]', 'settled', '10', '0', 1795470169902);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('37986253f58207639949e84caca7695c', 'credit', 'bob', '10', 'USD', 2, '["local","alice","aa4033dbc4b132ed25b9fe9b4d898a8b"]', 'credited', null, null, 1795470170300);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('5a6b439347381e46eebbb9393a9cb086', 'hold', 'alice', '10', 'USD', 2, '["local","bob","aa4033dbc4b132ed25b9fe9b4d898a8b"]', 'held', null, null, 1795470170299);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('77cb591c4ec27fb04dce0092394ecad7', 'credit', 'bob', '10', 'USD', 2, '["local","alice","76cdffa4df7539944467c0ea1154cffd"]', 'not_allowed', null, null, 1795470170102);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('7c7f7558f4257ea8680f6f3ff44e11a5', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795470170429);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('7d9db366bd55d1958fc228447011f0f9', 'hold', 'alice', '10', 'USD', 2, '["local","bob","e1241342637d7c875cc009247f1a16f7"]', 'held', null, null, 1795470170259);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('7f70a73a3403956734f1067bfc1a3500', 'hold', 'alice', '10', 'USD', 2, '["local","bob","c3edba6721eea6e70c40c9cb30f9b8d8"]', 'not_allowed', null, null, 1795470170068);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('af177bbf312a7ef31e387916159ef56d', 'credit', 'bob', '10', 'USD', 2, '["local","alice","c4417905c818eba8359f0f123c2b761d"]', 'not_allowed', null, null, 1795470170120);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('c09834a5fcc4ee5f7f2ec3e9321e291f', 'credit', 'bob', '10', 'USD', 2, '["local","alice","c2f3e6af57fdf602f834fb27edcda59e"]', 'credited', null, null, 1795470170337);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('cf436a11166b6ba17c73981dfea5b7b7', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795470170477);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('dbff4432dbf8ed8bcbebbc3a3f34a794', 'hold', 'alice', '10', 'USD', 2, '["local","bob","6ca41160888f2de17fe58cf8a1b13bf0"]', 'held', null, null, 1795470170175);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('dc69f9d5ffcca3179aca5c4b66ac1240', 'credit', 'bob', '10', 'USD', 2, '["local","alice","cd8a970051b6781c2c81bac4e30f9766"]', 'credited', null, null, 1795470169982);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('e101b80c11f10c5746236d0bfa1b179a', 'hold', 'alice', '10', 'USD', 2, '["local","bob","76cdffa4df7539944467c0ea1154cffd"]', 'released', null, null, 1795470170100);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('ebdb82704577433aa9b28c67b7b1dc30', 'credit', 'bob', '10', 'USD', 2, '["local","alice","e1241342637d7c875cc009247f1a16f7"]', 'credited', null, null, 1795470170260);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('ede476857e75d7f6783c49f293af8a4c', 'hold', 'alice', '10', 'USD', 2, '["local","bob","c2f3e6af57fdf602f834fb27edcda59e"]', 'settled', '10', '0', 1795470170336);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('ffdd419a87383aac6ac1179f39005305', 'hold', 'alice', '10', 'USD', 2, '["local","bob","c17f6e0f2d7f3a67606d9520fc663458"]', 'held', null, null, 1795470170206);
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 2, 1);
