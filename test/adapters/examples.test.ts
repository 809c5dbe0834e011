import { inNode, startExample } from '../hosts/example-process.ts'
import { describeHost } from '../hosts/host-behaviour.ts'

describeHost('node:http', { start: () => startExample(inNode('examples/node.ts')) })
describeHost('Express', { start: () => startExample(inNode('examples/express.ts')) })
