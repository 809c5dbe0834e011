import { describeRuntimes } from './describe-runtime.ts'
import { LATER_NODES } from './runtimes.ts'

describeRuntimes(LATER_NODES)
