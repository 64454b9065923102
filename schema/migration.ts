// One step from an older shape of the database to the next.

export interface Migration {
  /** 1, 2, 3 … without gaps; what was released is never edited. */
  readonly id: number;
  readonly name: string;
  readonly statements: readonly string[];
}
