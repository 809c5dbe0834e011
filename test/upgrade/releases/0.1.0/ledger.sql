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
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (1, 'opening:alice', 'alice', '100000', 1795797386838);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (2, '3d6d31f476390e29e5e3ba8913dfceb4', 'clearing:USD:2', '-10', 1795797386995);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (3, '3d6d31f476390e29e5e3ba8913dfceb4', 'bob', '10', 1795797386995);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (4, '2b49c152b34c31b1d8060e50f4e664a3', 'alice', '-10', 1795797386996);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (5, '2b49c152b34c31b1d8060e50f4e664a3', 'clearing:USD:2', '10', 1795797386996);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (6, '165f5945ff63ecd1ad5f7ee9b639c616', 'clearing:USD:2', '-10', 1795797387075);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (7, '165f5945ff63ecd1ad5f7ee9b639c616', 'bob', '10', 1795797387075);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (8, '496e972d9d8fd1ad0688dc95c8da395a', 'clearing:USD:2', '-10', 1795797387084);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (9, '496e972d9d8fd1ad0688dc95c8da395a', 'bob', '10', 1795797387084);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (10, 'c832a07e688f0617898560d87118117d', 'clearing:USD:2', '-10', 1795797387095);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (11, 'c832a07e688f0617898560d87118117d', 'bob', '10', 1795797387095);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (12, 'ab0c7c0391a9ea46741f034e18d1e134', 'alice', '-10', 1795797387095);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (13, 'ab0c7c0391a9ea46741f034e18d1e134', 'clearing:USD:2', '10', 1795797387095);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (14, '00000000000000000000000000000001', 'clearing:USD:2', '-2', 1795797387116);
INSERT INTO ledger_entry (sequence, transfer, account, amount, created_at) VALUES (15, '00000000000000000000000000000001', 'bob', '2', 1795797387116);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('00000000000000000000000000000001', 'credit', 'bob', '2', 'USD', 2, '["rail","ilp","g.peer/USD/2"]', 'credited', null, null, 1795797387116);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('165f5945ff63ecd1ad5f7ee9b639c616', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d8868110e0a54bce82be927f5a6c01626c3"]', 'credited', null, null, 1795797387075);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('1d2ecfc89eeaf60493f62b1089d7e2e7', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d88cf790dd97be358c43fb78b1a37c9af2c"]', 'held', null, null, 1795797387083);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('27f657686d7120ea99e758414768b702', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d88cedd5c455ded2c6cb062c986743d3d40"]', 'not_allowed', null, null, 1795797387039);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('2b49c152b34c31b1d8060e50f4e664a3', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d884130bc798ef433e6a55e20df5cad29a9"]', 'settled', '10', '0', 1795797386974);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('318bc4d6b44629a9b11677056071be02', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d8868110e0a54bce82be927f5a6c01626c3"]', 'held', null, null, 1795797387074);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('35391caa31d1967f0add6baeed747b85', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795797387131);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('3d6d31f476390e29e5e3ba8913dfceb4', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d884130bc798ef433e6a55e20df5cad29a9"]', 'credited', null, null, 1795797386995);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('496e972d9d8fd1ad0688dc95c8da395a', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d88cf790dd97be358c43fb78b1a37c9af2c"]', 'credited', null, null, 1795797387084);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('6866caed9633bf016b57644d07792343', 'hold', 'alice', '5', 'USD', 2, '["rail","ilp","test.other-wallet.payment-1"]', 'held', null, null, 1795797387142);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('92ab9bebced7193d1c00a682091b2ce5', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d8806f0d8b01cd66b784d4eabbfe43a1d0a"]', 'not_allowed', null, null, 1795797387025);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('a14c4242f0838d009030e5c8653fd290', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d8832c9974bf851b0c586a3c7a498540180"]', 'held', null, null, 1795797387056);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('ab0c7c0391a9ea46741f034e18d1e134', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d88971fd8511db4530b590737f667776deb"]', 'settled', '10', '0', 1795797387093);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('c832a07e688f0617898560d87118117d', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d88971fd8511db4530b590737f667776deb"]', 'credited', null, null, 1795797387095);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('c84b9d7fd4579a9543923e7827f66a68', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d88cedd5c455ded2c6cb062c986743d3d40"]', 'held', null, null, 1795797387038);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('d9944b12cc5906554dbefbe6b12d49ff', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d886a38f56764c0ddec8b840132f4bf44a4"]', 'held', null, null, 1795797387064);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('e92be50b941749f139f3ea9353778772', 'credit', 'bob', '10', 'USD', 2, '["local","alice","019ca9451d888ba1f492a013e87a1d2ad98e42e392c0"]', 'not_allowed', null, null, 1795797387033);
INSERT INTO ledger_transfer (id, type, account, amount, asset_code, asset_scale, counterparty, state, settled_amount, settled_fee, created_at) VALUES ('f16975d45ff4ff200f57171364ab525b', 'hold', 'alice', '10', 'USD', 2, '["local","bob","019ca9451d888ba1f492a013e87a1d2ad98e42e392c0"]', 'released', null, null, 1795797387032);
INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 2, 1);
