import type { Change } from '../../src/ports/storage.ts'

/** The id of the record that a change is about. */
export function idOfChange(change: Change): string {
  return 'value' in change ? change.value.id : change.id
}
