import type { InteractionRefusal } from '../../src/ports/consent.ts'

/** A page that gives one message and asks for nothing. */
export interface Notice {
  readonly status: number
  readonly heading: string
  readonly text: string
  /** Whether the message says that something was done. */
  readonly isDone?: true
  /** Whether the request still waits for an answer; then the page has a link back to it. */
  readonly isOpen?: true
}

const START_AGAIN = 'Go back to where you came from and start again.'
const ANSWER_AGAIN = 'Nothing was approved. Please open the request again and answer it there.'

/** The messages if an interaction cannot be shown or decided. None of these pages redirects. @spec INT-3 @spec INT-4 */
export const REFUSALS: Readonly<Record<InteractionRefusal, Notice>> = {
  unknown: {
    status: 404,
    heading: 'We do not know this request',
    text: `Perhaps the link is incomplete, or too old. Nothing was approved. ${START_AGAIN}`,
  },
  expired: {
    status: 410,
    heading: 'This request has expired',
    text: `It was not answered in time. Nothing was approved. ${START_AGAIN}`,
  },
  used: {
    status: 410,
    heading: 'This request was already answered',
    text: 'Only the first answer counts. Go back to where you came from to see what became of it, or close this window.',
  },
  other_session: {
    status: 403,
    heading: 'This request was opened elsewhere',
    text: `It belongs to another browser or another login. Nothing was approved here. ${START_AGAIN}`,
  },
  bad_csrf: {
    status: 403,
    heading: 'We could not check your answer',
    text: ANSWER_AGAIN,
    isOpen: true,
  },
  not_owner: {
    status: 403,
    heading: 'This request is about an account that is not yours',
    text: 'Only its owner can answer it. Nothing was approved. If it is yours under another login, log in with that one and open the link again; if you did, ask your wallet.',
  },
  // This page never approves more than was requested, so here it means that the account is inactive or gone.
  wider_access: {
    status: 403,
    heading: 'This account cannot approve it at present',
    text: 'Nothing was approved. Ask your wallet about the account, and then open the request again.',
    isOpen: true,
  },
}

/**
 * All other messages. After a decision the browser goes back to the client: only if that polls, the person reads `approved` or
 * `denied`.
 */
export const NOTICES = {
  unauthenticated: {
    status: 401,
    heading: 'Please log in',
    text: 'Log in to your wallet, then open this link again.',
  },
  wrongType: {
    status: 415,
    heading: 'This is not a form',
    text: 'An answer comes as application/x-www-form-urlencoded. Nothing was approved.',
    isOpen: true,
  },
  tooLarge: {
    status: 413,
    heading: 'This form is too large',
    text: ANSWER_AGAIN,
    isOpen: true,
  },
  noDecision: {
    status: 400,
    heading: 'There was no answer',
    text: ANSWER_AGAIN,
    isOpen: true,
  },
  approved: {
    status: 200,
    heading: 'You approved the request',
    text: 'Whoever asked will learn of it. You can close this window.',
    isDone: true,
  },
  denied: {
    status: 200,
    heading: 'You denied the request',
    text: 'Nothing was approved. You can close this window.',
  },
  away: {
    status: 503,
    heading: 'We cannot answer just now',
    text: 'Please open the request again in a minute. It shows whether it still waits for your answer.',
    isOpen: true,
  },
  broken: {
    status: 500,
    heading: 'Something went wrong on our side',
    text: 'Please open the request again. It shows whether it still waits for your answer.',
    isOpen: true,
  },
} as const satisfies Readonly<Record<string, Notice>>
