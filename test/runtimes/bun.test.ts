import { describeRuntimes } from './describe-runtime.ts'
import { BUN, FIRST_BUN } from './runtimes.ts'

describeRuntimes([FIRST_BUN, BUN])
