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
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (1, 'opening:alice', 'alice', '100000', 1795438282563);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (2, '7140a9d097f5a301f365713ada9ee826', 'clearing:USD:2', '-10', 1795438282656);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (3, '7140a9d097f5a301f365713ada9ee826', 'bob', '10', 1795438282656);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (4, '1862b00bad8de7fb72802cb5697f3143', 'alice', '-10', 1795438282657);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (5, '1862b00bad8de7fb72802cb5697f3143', 'clearing:USD:2', '10', 1795438282657);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (6, '62130aa0175ee5c0626df90ed4dc821c', 'clearing:USD:2', '-10', 1795438282708);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (7, '62130aa0175ee5c0626df90ed4dc821c', 'bob', '10', 1795438282708);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (8, 'd5f31b97146d41626077d2c68e2e99ed', 'clearing:USD:2', '-10', 1795438282715);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (9, 'd5f31b97146d41626077d2c68e2e99ed', 'bob', '10', 1795438282715);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (10, 'eaace5ecc1864d5dce6fd52a06460521', 'clearing:USD:2', '-10', 1795438282721);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (11, 'eaace5ecc1864d5dce6fd52a06460521', 'bob', '10', 1795438282721);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (12, 'e2e9b924d9b64bcb59ff30fdc644cf1a', 'alice', '-10', 1795438282721);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (13, 'e2e9b924d9b64bcb59ff30fdc644cf1a', 'clearing:USD:2', '10', 1795438282721);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (14, '00000000000000000000000000000001', 'clearing:USD:2', '-2', 1795438282734);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (15, '00000000000000000000000000000001', 'bob', '2', 1795438282734);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('00000000000000000000000000000001', 'credit', 'bob', '2', 'USD', 2, '["rail","ilp","g.peer/USD/2"]', 'credited', null, null, 1795438282734);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('1862b00bad8de7fb72802cb5697f3143', 'hold', 'alice', '10', 'USD', 2, '["local","bob","866c4f8d9bbfa4e4b7d530a62ef6b088"]', 'settled', '10', '0', 1795438282645);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('1b8136ec63f0e3c95bc6477bf51010d5', 'hold', 'alice', '10', 'USD', 2, '["local","bob","b38e2809d2481980f16ff3a9c48381fb"]', 'held', null, null, 1795438282697);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('1c21c990c6cb0cf8da09c769c30b9847', 'hold', 'alice', '10', 'USD', 2, '["local","bob","570b5123284772936a829463534da209"]', 'held', null, null, 1795438282684);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('32c67a8217ad871db1e83c99f77359d0', 'hold', 'alice', '10', 'USD', 2, '["local","bob","8d10c9b850afcef6216d46f35812a1d5"]', 'held', null, null, 1795438282714);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('386e0b84a091fd894cd57a579d13613e', 'hold', 'alice', '10', 'USD', 2, '["local","bob","26823b8bb0c232a6a5c4c60addc0bcc5"]', 'held', null, null, 1795438282708);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('524c12281c43db8226f6296cac985c6b', 'hold', 'alice', '10', 'USD', 2, '["local","bob","12e411e7067cfb6890feb60338fb1d35"]', 'not_allowed', null, null, 1795438282674);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('62130aa0175ee5c0626df90ed4dc821c', 'credit', 'bob', '10', 'USD', 2, '["local","alice","26823b8bb0c232a6a5c4c60addc0bcc5"]', 'credited', null, null, 1795438282708);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('7140a9d097f5a301f365713ada9ee826', 'credit', 'bob', '10', 'USD', 2, '["local","alice","866c4f8d9bbfa4e4b7d530a62ef6b088"]', 'credited', null, null, 1795438282656);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('756054b00e0e1521732937ed0f2ea550', 'hold', 'alice', '10', 'USD', 2, '["local","bob","8a64b7366d6c0ae46d6241aec6323722"]', 'released', null, null, 1795438282679);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('7ec213ca575b4ad3a75d22c496f43800', 'credit', 'bob', '10', 'USD', 2, '["local","alice","8a64b7366d6c0ae46d6241aec6323722"]', 'not_allowed', null, null, 1795438282680);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('9a1f90d28c1c29d125e14a75dbc21d0c', 'hold', 'alice', '10', 'USD', 2, '["local","bob","55db0fb12992528ef2e960fdb92cf2fe"]', 'held', null, null, 1795438282702);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('c3eb14665e8258aa28f59aa26973a791', 'credit', 'bob', '10', 'USD', 2, '["local","alice","570b5123284772936a829463534da209"]', 'not_allowed', null, null, 1795438282685);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('d5f31b97146d41626077d2c68e2e99ed', 'credit', 'bob', '10', 'USD', 2, '["local","alice","8d10c9b850afcef6216d46f35812a1d5"]', 'credited', null, null, 1795438282715);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('e2e9b924d9b64bcb59ff30fdc644cf1a', 'hold', 'alice', '10', 'USD', 2, '["local","bob","8e3d7d21b367d9cc98f81ff303f621e6"]', 'settled', '10', '0', 1795438282720);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('e4c8fa6f458fb1bd6c972218207f0142', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795438282741);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('e69502cbfb2037d5d554137a615b4052', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795438282751);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('eaace5ecc1864d5dce6fd52a06460521', 'credit', 'bob', '10', 'USD', 2, '["local","alice","8e3d7d21b367d9cc98f81ff303f621e6"]', 'credited', null, null, 1795438282721);
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 2, 1);
