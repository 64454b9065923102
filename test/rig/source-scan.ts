// What one source file imports and which globals it uses, read from its syntax tree.

import ts from 'typescript';

export interface ScannedFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly imports: readonly Import[];
  readonly globals: readonly GlobalUse[];
  /** Nothing but `export … from` in it. */
  readonly isBarrel: boolean;
}

export interface Import {
  /** As written; null if it is computed at run time. */
  readonly specifier: string | null;
  /** Leaves nothing behind at run time. */
  readonly typeOnly: boolean;
  readonly line: number;
}

export interface GlobalUse {
  /** The global and at most one member: `fetch`, `process.exit`, `new Date`. */
  readonly name: string;
  readonly line: number;
}

export function scan(path: string, source: string): ScannedFile {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true, scriptKind(path));
  const imports: Import[] = [];
  const names: GlobalUse[] = [];
  const declared = new Set<string>();
  walk(file, (node) => {
    const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
    const imported = importOf(node);
    if (imported !== undefined) imports.push({ ...imported, line });
    const name = declaredName(node);
    if (name !== undefined) declared.add(name);
    const used = usedName(node);
    if (used !== undefined) names.push({ name: used, line });
  });
  // A name that the file declares anywhere is taken to be its own: simple, and wrong only for odd shadowing.
  const globals = names.filter(({ name }) => !declared.has(rootOf(name)));
  return { path, imports, globals, isBarrel: isBarrel(file) };
}

function scriptKind(path: string): ts.ScriptKind {
  return path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

function importOf(node: ts.Node): Omit<Import, 'line'> | undefined {
  if (ts.isImportDeclaration(node)) {
    // `import { type X }` still loads the module; only `import type` does not.
    return imported(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
    return imported(node.moduleSpecifier, node.isTypeOnly);
  }
  if (ts.isImportTypeNode(node)) return imported(node.argument, true);
  if (ts.isExternalModuleReference(node)) return imported(node.expression, false);
  if (ts.isCallExpression(node) && isLoader(node.expression)) return imported(node.arguments[0], false);
  return undefined;
}

function imported(at: ts.Node | undefined, typeOnly: boolean): Omit<Import, 'line'> {
  const literal = at !== undefined && ts.isLiteralTypeNode(at) ? at.literal : at;
  const isText = literal !== undefined && ts.isStringLiteralLike(literal);
  return { specifier: isText ? literal.text : null, typeOnly };
}

function isLoader(callee: ts.Expression): boolean {
  return (
    callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require')
  );
}

function declaredName(node: ts.Node): string | undefined {
  const declares =
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isImportClause(node) ||
    ts.isImportSpecifier(node) ||
    ts.isNamespaceImport(node);
  // A parameter of a function type names nothing that code could use.
  const inType = ts.isParameter(node) && !('body' in node.parent);
  return declares && !inType && node.name && ts.isIdentifier(node.name) ? node.name.text : undefined;
}

function usedName(node: ts.Node): string | undefined {
  if (!ts.isIdentifier(node) || !isReference(node)) return undefined;
  const { parent } = node;
  if (ts.isNewExpression(parent) && parent.expression === node) {
    return parent.arguments?.length ? `new ${node.text}(…)` : `new ${node.text}`;
  }
  if (ts.isPropertyAccessExpression(parent)) return `${node.text}.${parent.name.text}`;
  if (ts.isElementAccessExpression(parent) && ts.isStringLiteralLike(parent.argumentExpression)) {
    return `${node.text}.${parent.argumentExpression.text}`;
  }
  return node.text;
}

/** Standing for a value: not a type, not the name of a member, a declaration or a label. */
function isReference(node: ts.Identifier): boolean {
  const parent: ts.Node & { name?: ts.Node; propertyName?: ts.Node; label?: ts.Node } = node.parent;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (parent.name === node || parent.propertyName === node || parent.label === node) return false;
  return !ts.isPartOfTypeNode(node) && !ts.isTypeQueryNode(parent) && !ts.isQualifiedName(parent);
}

function rootOf(name: string): string {
  return name.replace(/^new /, '').replace(/[.(].*$/, '');
}

function isBarrel(file: ts.SourceFile): boolean {
  const { statements } = file;
  return (
    statements.length > 0 &&
    statements.every((s) => ts.isExportDeclaration(s) && s.moduleSpecifier !== undefined)
  );
}
