import { describeHost } from '../runtimes/host-behaviour.ts'

describeHost('node:http')
describeHost('Express')
