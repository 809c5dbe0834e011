import { describeHost } from './host-behaviour.ts'

describeHost('Bun')
describeHost('Deno')
