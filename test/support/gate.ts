/** Something that is closed at first, and opened once. */
export function gate() {
  let open = (): void => undefined
  const opened = new Promise<undefined>((resolve) => {
    open = () => resolve(undefined)
  })
  return { open: () => open(), opened }
}

/** A call that never answers, and the moment at which it was made. */
export function silence() {
  const { open, opened } = gate()
  const call = (): Promise<never> => {
    open()
    return new Promise(() => undefined)
  }
  return { called: opened, call }
}
