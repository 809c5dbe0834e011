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
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (1, 'opening:alice', 'alice', '100000', 1795314164208);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (2, '039fec2676910bbd01b56331d5938599', 'clearing:USD:2', '-10', 1795314164539);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (3, '039fec2676910bbd01b56331d5938599', 'bob', '10', 1795314164539);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (4, '61cbecdbc2ef68a2f60f95df30b8d5f7', 'alice', '-10', 1795314164541);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (5, '61cbecdbc2ef68a2f60f95df30b8d5f7', 'clearing:USD:2', '10', 1795314164541);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (6, 'caaeb6fad5c6cd980693246c8751ee7d', 'clearing:USD:2', '-10', 1795314164683);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (7, 'caaeb6fad5c6cd980693246c8751ee7d', 'bob', '10', 1795314164683);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (8, '914b1f40a5cfd6513534a57e9878671d', 'clearing:USD:2', '-10', 1795314164701);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (9, '914b1f40a5cfd6513534a57e9878671d', 'bob', '10', 1795314164701);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (10, 'be6dd1d9925d65b63044ad0e3448c591', 'clearing:USD:2', '-10', 1795314164719);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (11, 'be6dd1d9925d65b63044ad0e3448c591', 'bob', '10', 1795314164719);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (12, '46b08dc5eb912054d808ac86bd53cb03', 'alice', '-10', 1795314164720);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (13, '46b08dc5eb912054d808ac86bd53cb03', 'clearing:USD:2', '10', 1795314164721);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (14, '00000000000000000000000000000001', 'clearing:USD:2', '-2', 1795314164758);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (15, '00000000000000000000000000000001', 'bob', '2', 1795314164758);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('00000000000000000000000000000001', 'credit', 'bob', '2', 'USD', 2, '["rail","ilp","g.peer/USD/2"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('039fec2676910bbd01b56331d5938599', 'credit', 'bob', '10', 'USD', 2, '["local","alice","f6c5b03d9f5d0dbfeed29b1930162ae3"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('39e1b997c650164d44d804187d80bf78', 'credit', 'bob', '10', 'USD', 2, '["local","alice","f4317f357a53a5a32de97cb9d2a9d840"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('445c980bc8dcba7b924ef9ae80aec89d', 'hold', 'alice', '10', 'USD', 2, '["local","bob","5fec1565b356531b38b858ab9b9c3b59"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('46b08dc5eb912054d808ac86bd53cb03', 'hold', 'alice', '10', 'USD', 2, '["local","bob","3ec0f167f6ce5c484419e9c711be6af4"]', 'settled', '10', '0');
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('61cbecdbc2ef68a2f60f95df30b8d5f7', 'hold', 'alice', '10', 'USD', 2, '["local","bob","f6c5b03d9f5d0dbfeed29b1930162ae3"]', 'settled', '10', '0');
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('6e8dfda7d8de53177c5c321614c1f7e1', 'hold', 'alice', '10', 'USD', 2, '["local","bob","66803f793875a3ac8fe223763a346d84"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('81db8f962435411b1d306cefeecb63c4', 'hold', 'alice', '10', 'USD', 2, '["local","bob","72acf0be6c9c58f2d5fdfa6ab43352e8"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('82373e308788e6e7238159a6f1ed81ed', 'hold', 'alice', '10', 'USD', 2, '["local","bob","f4317f357a53a5a32de97cb9d2a9d840"]', 'released', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('87ccc4ef71096a036e0a14ad3738e401', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('90ecb5c5ea0fb68eaf1b19504fb71321', 'hold', 'alice', '10', 'USD', 2, '["local","bob","9d3271446cf3f7c7a5a3ff47f9e5f191"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('914b1f40a5cfd6513534a57e9878671d', 'credit', 'bob', '10', 'USD', 2, '["local","alice","b408d659cd773c4d840ebd4875c61d41"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('9a96877229d6e5a45255688b2cfd2a6f', 'hold', 'alice', '10', 'USD', 2, '["local","bob","b408d659cd773c4d840ebd4875c61d41"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('b0dae6a0771766dc174b85f1a8cb705b', 'hold', 'alice', '10', 'USD', 2, '["local","bob","37176b8bc4137b578742ae4e4f534383"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('be6dd1d9925d65b63044ad0e3448c591', 'credit', 'bob', '10', 'USD', 2, '["local","alice","3ec0f167f6ce5c484419e9c711be6af4"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('caaeb6fad5c6cd980693246c8751ee7d', 'credit', 'bob', '10', 'USD', 2, '["local","alice","66803f793875a3ac8fe223763a346d84"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('eb541d66fc034bf0b31413465b63f06d', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('f44e2ffa986c9e8b546003a5809cd031', 'credit', 'bob', '10', 'USD', 2, '["local","alice","72acf0be6c9c58f2d5fdfa6ab43352e8"]', 'not_allowed', null, null);
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 1, 1);
