import type { Climate } from './bad-network.ts'

/** Nothing befalls anything. */
export const CALM: Climate = { packets: {}, requests: {} }

/** One packet in ten is lost on its way or on its way back, and more befalls others. */
export const STORM: Climate = {
  packets: {
    'request lost': 50,
    'reply lost': 50,
    delayed: 60,
    'reply delayed': 60,
    duplicated: 50,
    'request tampered with': 20,
    'reply tampered with': 20,
    refused: 20,
  },
  requests: {
    'request lost': 20,
    'reply lost': 20,
    delayed: 20,
    'reply delayed': 20,
    duplicated: 20,
    'request tampered with': 5,
    'reply tampered with': 5,
    refused: 10,
  },
}
