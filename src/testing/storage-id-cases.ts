import { assertSame } from './assertions.ts'
import {
  claim,
  insertEveryKind,
  kindsWith,
  mustCommit,
  readValues,
  replaceClaim,
  type StorageCase,
  samplesOf,
} from './storage-case.ts'

/** A text of so many characters that ends in something. */
function longText(length: number, end: string): string {
  return `rail:${'x'.repeat(length)}`.slice(0, length - end.length) + end
}

// What folds case, trims, normalises, compares patterns, quotes, escapes, splits or stops at 64 or 255 characters takes some of
// them for one, or fails.
const ALIKE: readonly string[] = [
  ...['rail:Order', 'rail:order', 'RAIL:ORDER', 'rail:order ', ' rail:order', 'rail:order\t', 'rail:orde_', 'rail:%'],
  ...['rail:\u00e9', 'rail:e\u0301', 'rail:e', 'rail:\u00df', 'rail:ss', 'rail:k', 'rail:\u212a', 'rail:1', 'rail:01'],
  ...["rail:o'clock", 'rail:o"clock', 'rail:o\\clock', 'rail:o/clock', 'rail:o_clock', 'rail:o%2Fclock', 'rail:oclock'],
  ...['rail:o#clock', 'rail:o', 'rail:o:1', 'rail:o:2', 'rail:o\nclock', 'rail:o clock'],
  ...[longText(64, 'a'), longText(65, 'ab'), longText(65, 'ac'), longText(66, 'abd'), longText(66, 'abe')],
  ...[longText(261, 'a'), longText(261, 'b'), longText(261, 'B'), longText(260, '')],
]

/** The wallet names a transfer, in up to 256 characters: with the prefix 517 code units of UTF-16, 1,029 bytes of UTF-8. */
const LONGEST: readonly string[] = ['\u{1f600}', '\u{1f601}'].map((end) => `rail:${'\u{1f600}'.repeat(255)}${end}`)

/** What the store promises of ids: one that it does not have is never taken for another one. */
export const ID_CASES: readonly StorageCase[] = [
  {
    name: 'ids of any kind that differ in a letter, its case, a sign, a space or late in a long text are not taken for another',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (const [index, id] of ALIKE.entries()) {
        const what = `id ${index}, ${JSON.stringify(id)}`
        assertSame(await kindsWith(storage, id), [], `the kinds that have a record with ${what}, before it is there`)
        assertSame(await storage.commit(insertEveryKind(id)), 'committed', `the insert of ${what}, in every kind`)
      }
      await mustCommit(storage, ...ALIKE.map((id, index) => replaceClaim(id, 1, index)))
      const expected = ALIKE.map((id, index) => ({ id, expiresAt: index }))
      assertSame(await readValues(storage, ...ALIKE.map(claim)), expected, 'the records')
    },
  },
  {
    name: 'receipts whose ids are the longest there are, and differ in their last character, are not taken for another',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (const [index, id] of LONGEST.entries()) {
        const key = { kind: 'receipt', id } as const
        const what = `the receipt ${index}, whose id has ${id.length} code units`
        assertSame(await storage.get([key]), [undefined], `${what}, before it is there`)
        assertSame(await storage.commit(samplesOf('receipt', id).slice(0, 1)), 'committed', `the insert of ${what}`)
        assertSame((await storage.get([key]))[0]?.value.id, id, `the id of ${what}`)
      }
    },
  },
]
