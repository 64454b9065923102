// A failure that is not the caller's mistake, as the log and the caller both know it.

export interface Incident {
  /** Also in the answer, so that the two can be matched. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
}
