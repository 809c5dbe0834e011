import { describeRuntimes } from './describe-runtime.ts'
import { DENO, FIRST_DENO } from './runtimes.ts'

describeRuntimes([FIRST_DENO, DENO])
