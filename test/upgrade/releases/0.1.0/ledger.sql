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
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('0daa030ed3ebc7ce2f6a33aabfb7d885', 'bob', '10', 1795293161670);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('0daa030ed3ebc7ce2f6a33aabfb7d885', 'clearing:USD:2', '-10', 1795293161670);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('22e2e79a69af7ee6039b47f5c3ec97eb', 'alice', '-10', 1795293161317);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('22e2e79a69af7ee6039b47f5c3ec97eb', 'clearing:USD:2', '10', 1795293161318);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('25dffdfc57d2130074dfb0f5dac4c228', 'bob', '10', 1795293161758);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('25dffdfc57d2130074dfb0f5dac4c228', 'clearing:USD:2', '-10', 1795293161758);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('affd8effafccf300186421c142246bb2', 'bob', '10', 1795293161314);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('affd8effafccf300186421c142246bb2', 'clearing:USD:2', '-10', 1795293161308);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('ef6569066031a22751fb2ee85e670f1e', 'alice', '-10', 1795293161760);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('ef6569066031a22751fb2ee85e670f1e', 'clearing:USD:2', '10', 1795293161760);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('f98a9dbc5ee93a44dd47c756637f4684', 'bob', '10', 1795293161698);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('f98a9dbc5ee93a44dd47c756637f4684', 'clearing:USD:2', '-10', 1795293161698);
INSERT INTO ledger_entry (transfer, account, amount, created_at) VALUES ('opening:alice', 'alice', '100000', 1795293159911);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('0daa030ed3ebc7ce2f6a33aabfb7d885', 'credit', 'bob', '10', 'USD', 2, '["local","alice","ab6755311d039f03cb3f427746299e65"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('22e2e79a69af7ee6039b47f5c3ec97eb', 'hold', 'alice', '10', 'USD', 2, '["local","bob","1d74d906a3836d8a134ef3f0347c7df9"]', 'settled', '10', '0');
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('25dffdfc57d2130074dfb0f5dac4c228', 'credit', 'bob', '10', 'USD', 2, '["local","alice","1e67715a9fb12d52914ec05d6a6a3fd8"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('330c746a48e13f91467f09e50c884940', 'hold', 'alice', '10', 'USD', 2, '["local","bob","2c319398d744df5a3e4c874f4def75f3"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('691c057eb49447f0699e9c128db8f471', 'hold', 'alice', '10', 'USD', 2, '["local","bob","5b4066345950dae7b898f760e25bbbb6"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('774f7b4b04f704913bc7916b906877cd', 'hold', 'alice', '10', 'USD', 2, '["local","bob","36d2832a8522708b299d651e265ffa48"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('848d6d2ef3784e922319b99de5130784', 'credit', 'bob', '10', 'USD', 2, '["local","alice","da075ccfaed1ebfd8318af8fe2f1fa7a"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('98dc63781143c96fe5b2d24de17cdbe4', 'hold', 'alice', '10', 'USD', 2, '["local","bob","ff56c1922861af5cf14f5b3f6ce1c318"]', 'released', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('9e721b33f4af3a743525f24d7ef49cff', 'hold', 'alice', '10', 'USD', 2, '["local","bob","da075ccfaed1ebfd8318af8fe2f1fa7a"]', 'held', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('affd8effafccf300186421c142246bb2', 'credit', 'bob', '10', 'USD', 2, '["local","alice","1d74d906a3836d8a134ef3f0347c7df9"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('c4f63130f93b6310f3a305d0c4e6f70c', 'hold', 'alice', '10', 'USD', 2, '["local","bob","26acd0ef4a10211f43ffa8f4cb873a40"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('ef6569066031a22751fb2ee85e670f1e', 'hold', 'alice', '10', 'USD', 2, '["local","bob","1e67715a9fb12d52914ec05d6a6a3fd8"]', 'settled', '10', '0');
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('f4e2195f8226fb353d57ce34f1f1cd72', 'credit', 'bob', '10', 'USD', 2, '["local","alice","ff56c1922861af5cf14f5b3f6ce1c318"]', 'not_allowed', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('f98a9dbc5ee93a44dd47c756637f4684', 'credit', 'bob', '10', 'USD', 2, '["local","alice","2c319398d744df5a3e4c874f4def75f3"]', 'credited', null, null);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee) VALUES ('fe877f1fccb5334dbb85e469a1eeac54', 'hold', 'alice', '10', 'USD', 2, '["local","bob","ab6755311d039f03cb3f427746299e65"]', 'held', null, null);
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 1, 1);
