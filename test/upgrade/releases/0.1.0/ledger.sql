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
      transfer TEXT NOT NULL,
      account TEXT NOT NULL,
      amount TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (transfer, account)
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
CREATE INDEX ledger_entry_account ON ledger_entry (account, created_at, transfer);
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('alice', 'USD', 2, 1, 1, '99980', '50');
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('bob', 'USD', 2, 1, 1, '40', '0');
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('carol', 'EUR', 4, 1, 1, '0', '0');
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('clearing:USD:2', 'USD', 2, 0, 0, '-20', '0');
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('121c3811a9400d0915c033c5210719ae', 'bob', '10', 1795295980653);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('121c3811a9400d0915c033c5210719ae', 'clearing:USD:2', '-10', 1795295980653);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('436c9f810ed12fac035b7aba34570d0f', 'alice', '-10', 1795295980819);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('436c9f810ed12fac035b7aba34570d0f', 'clearing:USD:2', '10', 1795295980819);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('b1f03db0547a1e7df55f2d880b97a160', 'alice', '-10', 1795295980660);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('b1f03db0547a1e7df55f2d880b97a160', 'clearing:USD:2', '10', 1795295980660);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('e86da3a3b4e16cdf4ba5e94d137e95c8', 'bob', '10', 1795295980794);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('e86da3a3b4e16cdf4ba5e94d137e95c8', 'clearing:USD:2', '-10', 1795295980794);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('f2b7b7bbddfa4073d703a99808a6f4f1', 'bob', '10', 1795295980818);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('f2b7b7bbddfa4073d703a99808a6f4f1', 'clearing:USD:2', '-10', 1795295980817);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('fafb636d968a7a22ed52006818bb7287', 'bob', '10', 1795295980774);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('fafb636d968a7a22ed52006818bb7287', 'clearing:USD:2', '-10', 1795295980774);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('opening:alice', 'alice', '100000', 1795295980393);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('121c3811a9400d0915c033c5210719ae', 'credit', 'bob', '10', 'USD', 2, '["local","alice","29c6e77c65433aec9cd96744ce2fc695"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('2017f5fa3c4ed626e6d2b7062a91aa6b', 'hold', 'alice', '10', 'USD', 2, '["local","bob","277b5be67ed3dfd3bf6ca6ce3658f354"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('314bc62485dd0f22f527357387085630', 'hold', 'alice', '10', 'USD', 2, '["local","bob","aa40f0ffbe75a9dc814f6b21f2f82a3f"]', 'released', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('41d9b9825d9c26d888250c14651c060b', 'hold', 'alice', '10', 'USD', 2, '["local","bob","b84057aa38266c58c4ab59b662b577ad"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('42de6ff51542a898442f4cea9c1de52b', 'hold', 'alice', '10', 'USD', 2, '["local","bob","451c38ae2dd3819d91817d6ef9d7fbaf"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('436c9f810ed12fac035b7aba34570d0f', 'hold', 'alice', '10', 'USD', 2, '["local","bob","54e7836fffd01e7fea17072ed52c264f"]', 'settled', '10', '0');
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('6126cfb161c7c3e877f730aef78d0a33', 'hold', 'alice', '10', 'USD', 2, '["local","bob","b1ac83ba50b60e4bcb8407458c49008c"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('7c014ffd530077c20203709f950d09fe', 'hold', 'alice', '10', 'USD', 2, '["local","bob","12999553e2ccb7338f0752845797e9ad"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('8ba80531d30b0037324fe81e411a078a', 'credit', 'bob', '10', 'USD', 2, '["local","alice","b84057aa38266c58c4ab59b662b577ad"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('9e9071bf38617b27649c397e3fae510f', 'credit', 'bob', '10', 'USD', 2, '["local","alice","aa40f0ffbe75a9dc814f6b21f2f82a3f"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('b1f03db0547a1e7df55f2d880b97a160', 'hold', 'alice', '10', 'USD', 2, '["local","bob","29c6e77c65433aec9cd96744ce2fc695"]', 'settled', '10', '0');
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('d4211228ff49380d35a6d888e497a6ec', 'hold', 'alice', '10', 'USD', 2, '["local","bob","ab4b095cda6f8c7b4f91c62e8c7f080f"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('e86da3a3b4e16cdf4ba5e94d137e95c8', 'credit', 'bob', '10', 'USD', 2, '["local","alice","451c38ae2dd3819d91817d6ef9d7fbaf"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('f2b7b7bbddfa4073d703a99808a6f4f1', 'credit', 'bob', '10', 'USD', 2, '["local","alice","54e7836fffd01e7fea17072ed52c264f"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('fafb636d968a7a22ed52006818bb7287', 'credit', 'bob', '10', 'USD', 2, '["local","alice","12999553e2ccb7338f0752845797e9ad"]', 'credited', null, null);
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 1, 1);
