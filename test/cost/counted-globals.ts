import type { Counter } from './counter.ts'

const CONSTRUCTED = ['URL', 'Request', 'Response', 'AbortController', 'URLSearchParams'] as const

/** Counts what is costly to make (requests, URLs, passes over JSON) for as long as `work` runs. */
export async function countGlobals<T>(counter: Counter, work: () => Promise<T>): Promise<T> {
  const restores = [...CONSTRUCTED.map((name) => countConstructions(counter, name)), ...countJson(counter)]
  try {
    return await work()
  } finally {
    for (const restore of restores) restore()
  }
}

/** `URL.canParse` counts as one: it parses. */
function countConstructions({ add }: Counter, name: (typeof CONSTRUCTED)[number]): () => void {
  const original = globalThis[name]
  const counted = new Proxy<object>(original, {
    construct: (target, values, newTarget) => {
      add(name)
      return Reflect.construct(target as typeof original, values, newTarget)
    },
    get: (target, property) => {
      if (property === 'canParse') add(name)
      return Reflect.get(target, property)
    },
  })
  Reflect.set(globalThis, name, counted)
  return () => {
    Reflect.set(globalThis, name, original)
  }
}

function countJson({ add }: Counter): readonly (() => void)[] {
  return (['parse', 'stringify'] as const).map((name) => {
    const original = JSON[name]
    Reflect.set(JSON, name, (...values: unknown[]) => {
      add(`JSON.${name}`)
      return Reflect.apply(original, JSON, values)
    })
    return () => {
      Reflect.set(JSON, name, original)
    }
  })
}
