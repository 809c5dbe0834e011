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
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('alice', 'USD', 2, 1, 1, '99980', '60');
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('bob', 'USD', 2, 1, 1, '42', '0');
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('carol', 'EUR', 4, 1, 1, '0', '0');
INSERT INTO ledger_account (account, asset_code, asset_scale, can_send, can_receive, balance, held) VALUES ('clearing:USD:2', 'USD', 2, 0, 0, '-22', '0');
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('00000000000000000000000000000001', 'bob', '2', 1795402695875);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('00000000000000000000000000000001', 'clearing:USD:2', '-2', 1795402695875);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('0310097d92a82482e7b9da7963242323', 'bob', '10', 1795402695760);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('0310097d92a82482e7b9da7963242323', 'clearing:USD:2', '-10', 1795402695760);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('530ffdd1d740750b535b9d973b3214e7', 'alice', '-10', 1795402695760);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('530ffdd1d740750b535b9d973b3214e7', 'clearing:USD:2', '10', 1795402695760);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('be0a5e34ecb586299c3c4be67a11d69d', 'alice', '-10', 1795402695862);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('be0a5e34ecb586299c3c4be67a11d69d', 'clearing:USD:2', '10', 1795402695862);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('ca9f0f71aa61de5c5415c9ab5fcdfcd8', 'bob', '10', 1795402695861);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('ca9f0f71aa61de5c5415c9ab5fcdfcd8', 'clearing:USD:2', '-10', 1795402695861);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('d49092f3f0780deedc9d92a49c857a82', 'bob', '10', 1795402695848);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('d49092f3f0780deedc9d92a49c857a82', 'clearing:USD:2', '-10', 1795402695848);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('d4e4ad77bd63857279f644cc966953b4', 'bob', '10', 1795402695840);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('d4e4ad77bd63857279f644cc966953b4', 'clearing:USD:2', '-10', 1795402695840);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('opening:alice', 'alice', '100000', 1795402695495);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('00000000000000000000000000000001', 'credit', 'bob', '2', 'USD', 2, '["rail","ilp","g.peer/USD/2"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('0310097d92a82482e7b9da7963242323', 'credit', 'bob', '10', 'USD', 2, '["local","alice","cc8d8d43c60a65dd5969d54b21bb25a5"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('09fee77160db47779fa80288e43c977a', 'hold', 'alice', '10', 'USD', 2, '["local","bob","c4e9368022e15f812f135fa1ab87e9a7"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('1ffe4ecfbfafc36088b2164b77b3cdac', 'hold', 'alice', '10', 'USD', 2, '["local","bob","9fd760d9b96f1e85931e3911ba02aef4"]', 'released', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('2727cac26bee4e314816597c54fed5f5', 'hold', 'alice', '10', 'USD', 2, '["local","bob","71f302bfbaad3b59018ded801d5e04a2"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('278ddbdbd23add8b53cac877b6dc2cf6', 'hold', 'alice', '10', 'USD', 2, '["local","bob","46139eb3ae7f113469f8d07a4d29935f"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('2c93c94cb22e4efa46137c82eea7a601', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('530ffdd1d740750b535b9d973b3214e7', 'hold', 'alice', '10', 'USD', 2, '["local","bob","cc8d8d43c60a65dd5969d54b21bb25a5"]', 'settled', '10', '0');
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('5dee259a358d15ed8e06b002a7c1288c', 'credit', 'bob', '10', 'USD', 2, '["local","alice","206c2a72816363634baceeff01a1287d"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('5f20a4647af31ba650338e020c886696', 'hold', 'alice', '10', 'USD', 2, '["local","bob","fce9f2c260a52e324c3b6bcf64b6eb97"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('74f7c6bb07b6569e5f537a1562f4a9e2', 'hold', 'alice', '10', 'USD', 2, '["local","bob","206c2a72816363634baceeff01a1287d"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('be0a5e34ecb586299c3c4be67a11d69d', 'hold', 'alice', '10', 'USD', 2, '["local","bob","b94ff90ebeb6b26fc5fd81808e61dd48"]', 'settled', '10', '0');
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('c720a56c90b4db940850a3a816964942', 'hold', 'alice', '10', 'USD', 2, '["local","bob","99a242343b76866d5fbf17bd81c491f3"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('ca9f0f71aa61de5c5415c9ab5fcdfcd8', 'credit', 'bob', '10', 'USD', 2, '["local","alice","b94ff90ebeb6b26fc5fd81808e61dd48"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('d49092f3f0780deedc9d92a49c857a82', 'credit', 'bob', '10', 'USD', 2, '["local","alice","46139eb3ae7f113469f8d07a4d29935f"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('d4e4ad77bd63857279f644cc966953b4', 'credit', 'bob', '10', 'USD', 2, '["local","alice","71f302bfbaad3b59018ded801d5e04a2"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('e4609511f5ec0edae8277face51f8f2e', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('edc7a5a8f6ec28677117dbff017ea162', 'credit', 'bob', '10', 'USD', 2, '["local","alice","9fd760d9b96f1e85931e3911ba02aef4"]', 'not_allowed', null, null);
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 1, 1);
