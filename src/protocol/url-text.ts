import * as v from 'valibot'
import { MAX_URL_LENGTH } from './url.ts'

/** A URL in a body, before anybody has looked whether it is one: no longer than any that is read. */
export const UrlText: v.GenericSchema<string> = v.pipe(v.string(), v.maxLength(MAX_URL_LENGTH, 'too long'))
