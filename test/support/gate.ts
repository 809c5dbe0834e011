/** Something that is closed at first, and opened once. */
export function gate() {
  let open = (): void => undefined
  const opened = new Promise<undefined>((resolve) => {
    open = () => resolve(undefined)
  })
  return { open: () => open(), opened }
}
