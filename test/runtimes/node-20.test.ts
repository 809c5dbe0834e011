import { describeRuntimes } from './describe-runtime.ts'
import { FIRST_NODE, PRESENT_NODE } from './runtimes.ts'

describeRuntimes([FIRST_NODE, PRESENT_NODE])
