import { assertSame } from '../../src/testing/assertions.ts'
import { claim, insertClaim, mustCommit, readVersions, type StorageCase } from '../../src/testing/storage-case.ts'

/**
 * What our own storages keep to beyond the contract, in which every id is text without a NUL: a read by another id, of which
 * only a payment method of the host could be the source, finds nothing, and fails no other read that shares its statement.
 */
export const ODD_IDS: StorageCase = {
  name: 'an id that is no text finds nothing, and no record whose id it might be turned into',
  async run(makeStorage) {
    const storage = await makeStorage()
    await mustCommit(storage, ...['rail:\ufffd', 'rail:?', 'rail:', 'a'].map((id) => insertClaim(id)))
    const ids = ['rail:\ud83d', 'rail:\udc00', 'rail:\ud83d\ud83d', 'a\u0000', 'a\u0000b', '\u0000a']
    for (const id of ids) {
      const what = `the versions of the replay-claim ${JSON.stringify(id)}, which is not there, and of "a"`
      assertSame(await readVersions(storage, claim(id), claim('a')), [undefined, 1], what)
      assertSame(await readVersions(storage, claim(id)), [undefined], `${what}, alone`)
    }
  },
}
