import * as v from 'valibot'

/** The body of a continuation request. Absent, empty and `{}` are polls; other members are ignored. @spec CON-7 */
export interface ContinuationRequest {
  readonly interactRef?: string
}

/** Reads the body of `POST /continue/{id}`. */
export const ContinuationRequest: v.GenericSchema<unknown, ContinuationRequest> = v.pipe(
  v.object({ interact_ref: v.exactOptional(v.pipe(v.string(), v.maxLength(256))) }),
  v.transform(({ interact_ref }) => (interact_ref === undefined ? {} : { interactRef: interact_ref })),
)
