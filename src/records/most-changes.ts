/**
 * The most changes that one commit may have: see `Storage`. Whoever commits for many records at once takes no more of them.
 */
export const MOST_CHANGES = 100
