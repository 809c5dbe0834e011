import { type Clock, systemClock } from 'open-payments-server'

/** The clock of this machine, so many milliseconds ahead as it says. */
export function movableClock(aheadAtFirst: number): Clock & { ahead: number } {
  const system = systemClock()
  const moved = { ...system, ahead: aheadAtFirst, now: () => system.now() + moved.ahead }
  return moved
}
