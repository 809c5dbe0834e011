/**
 * What became of something that was due: it was picked up, another worker was faster, or nothing could be committed, so
 * that it is still due.
 */
export type TakenUp = 'taken' | 'lost' | 'failed'
