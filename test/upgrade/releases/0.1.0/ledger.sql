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
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (1, 'opening:alice', 'alice', '100000', 1795784488423);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (2, '13fbec3ae55ce74809938e8b2c94da7f', 'clearing:USD:2', '-10', 1795784488707);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (3, '13fbec3ae55ce74809938e8b2c94da7f', 'bob', '10', 1795784488707);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (4, '07efd2c83fed4ddab71f776c40975571', 'alice', '-10', 1795784488708);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (5, '07efd2c83fed4ddab71f776c40975571', 'clearing:USD:2', '10', 1795784488708);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (6, '267292f2c3640fa8e0a559bc2055a3dc', 'clearing:USD:2', '-10', 1795784488809);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (7, '267292f2c3640fa8e0a559bc2055a3dc', 'bob', '10', 1795784488810);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (8, 'e3c9fee9a0336afb7d8dcca2e34e2f00', 'clearing:USD:2', '-10', 1795784488820);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (9, 'e3c9fee9a0336afb7d8dcca2e34e2f00', 'bob', '10', 1795784488820);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (10, '8fc0c0dfe8440e1eb67be59695ea1341', 'clearing:USD:2', '-10', 1795784488831);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (11, '8fc0c0dfe8440e1eb67be59695ea1341', 'bob', '10', 1795784488831);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (12, '4d02a33697e15dfdb2af88e09b706a14', 'alice', '-10', 1795784488831);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (13, '4d02a33697e15dfdb2af88e09b706a14', 'clearing:USD:2', '10', 1795784488831);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (14, '00000000000000000000000000000001', 'clearing:USD:2', '-2', 1795784488852);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (15, '00000000000000000000000000000001', 'bob', '2', 1795784488852);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('00000000000000000000000000000001', 'credit', 'bob', '2', 'USD', 2, '["rail","ilp","g.peer/USD/2"]', 'credited', null, null, 1795784488852);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('07efd2c83fed4ddab71f776c40975571', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d889dd333becb9c79cfe3dd048d7b88bfe2"]', 'settled', '10', '0', 1795784488678);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('13fbec3ae55ce74809938e8b2c94da7f', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d889dd333becb9c79cfe3dd048d7b88bfe2"]', 'credited', null, null, 1795784488707);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('16658502feef476605616f49e6eee44a', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d88dc0758129b503c867810061581111daa"]', 'held', null, null, 1795784488792);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('19b6524194d360b9eda8f9f7e6554fdd', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795784488879);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('1aeb13afd35513903c4021cca19e2b33', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d88c7774315de14b482cf77c9a23a84679f"]', 'released', null, null, 1795784488768);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('267292f2c3640fa8e0a559bc2055a3dc', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d88d6e360304e60369f51b02542c3e4f0b9"]', 'credited', null, null, 1795784488810);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('298092ffaf57100bc58da37b50bd6716', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d88c7774315de14b482cf77c9a23a84679f"]', 'not_allowed', null, null, 1795784488769);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('4d02a33697e15dfdb2af88e09b706a14', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d884da9303083dfc81a168647b0cc72b2f6"]', 'settled', '10', '0', 1795784488830);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('647fdd79593f7e762d3dde401e47d572', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d880b51940849f7afab88bfd92bb93d3cd7"]', 'not_allowed', null, null, 1795784488776);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('6ac6ded3d4f7a50f29e354725c3cdb77', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d88d6e360304e60369f51b02542c3e4f0b9"]', 'held', null, null, 1795784488809);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('80e4913beb931639aa728efdd9b64a20', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d88a90103d8eb809fdafb73daf39460646f"]', 'not_allowed', null, null, 1795784488759);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('8fc0c0dfe8440e1eb67be59695ea1341', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d884da9303083dfc81a168647b0cc72b2f6"]', 'credited', null, null, 1795784488831);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('90348f306bdb670855a8b4962f513356', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d880b51940849f7afab88bfd92bb93d3cd7"]', 'held', null, null, 1795784488775);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('a4dbf6ce32b2392cae85ba9b0fb3cd81', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795784488861);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('e3c9fee9a0336afb7d8dcca2e34e2f00', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d885d3965ebfc99a35cce7831942ef09951"]', 'credited', null, null, 1795784488820);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('eb941c8e6d30c5f2bbc839fd14d6d909', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d885d3965ebfc99a35cce7831942ef09951"]', 'held', null, null, 1795784488819);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('ef7a70de0b1cde3008e4c867eb67388a', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d8845d4e686e112186fb4fa4d2156985c1f"]', 'held', null, null, 1795784488800);
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 2, 1);
