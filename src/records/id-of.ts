import type { Change } from '../ports/storage.ts'

/** The id of the record that a change is about. */
export function idOf(change: Change): string {
  return 'value' in change ? change.value.id : change.id
}
