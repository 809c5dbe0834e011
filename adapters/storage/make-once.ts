/** Makes a thing when it is first asked for, and keeps it under its name. */
export function makeOnce<Asked, Made>(
  make: (asked: Asked) => Made,
  nameOf: (asked: Asked) => unknown = (asked) => asked,
): (asked: Asked) => Made {
  const known = new Map<unknown, Made>()
  return (asked) => {
    const name = nameOf(asked)
    const made = known.get(name) ?? make(asked)
    known.set(name, made)
    return made
  }
}
