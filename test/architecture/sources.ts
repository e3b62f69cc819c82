import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import ts from 'typescript';
import { listSources } from './source-files.js';

export interface Import {
  /** As written: `./x.js`, `node:fs`, `axios`. */
  readonly specifier: string;
  /** Path of the imported source below the root, null for a package or a `node:` module. */
  readonly file: string | null;
  readonly isTypeOnly: boolean;
  /** Whether it is an `import()`, which loads the file when it is called. */
  readonly isDynamic: boolean;
  readonly line: number;
}

/** A name used as a value that belongs to no declaration of the file: `process`, `Date.now`, `setTimeout`. */
export interface GlobalUse {
  readonly name: string;
  readonly line: number;
}

export interface Source {
  /** Below the root, with slashes: `src/units/time.ts`. */
  readonly file: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  readonly defaultExports: readonly number[];
  readonly globals: readonly GlobalUse[];
}

/** Reads the imports, names and global uses of all TypeScript files below `directory` of the repository. */
export function readSources(root: string, directory: string): readonly Source[] {
  return listSources(root, directory).map((file) =>
    parseSource(file, readFileSync(join(root, file), 'utf8')),
  );
}

/** Parses one source text. */
export function parseSource(file: string, text: string): Source {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const imports: Import[] = [];
  const defaultExports: number[] = [];
  const globals: GlobalUse[] = [];
  const lineOf = (node: ts.Node): number => tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
  const visit = (node: ts.Node): void => {
    const imported = readImport(node);
    if (imported !== null) {
      imports.push({ ...imported, file: resolve(file, imported.specifier), line: lineOf(node) });
    }
    if (isDefaultExport(node)) defaultExports.push(lineOf(node));
    const name = readGlobal(node);
    if (name !== null) globals.push({ name, line: lineOf(node) });
    ts.forEachChild(node, visit);
  };
  visit(tree);
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  return { file, lines, imports, defaultExports, globals };
}

function readImport(node: ts.Node): Omit<Import, 'file' | 'line'> | null {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    return {
      specifier: node.moduleSpecifier.text,
      isTypeOnly: isTypeOnlyClause(node.importClause),
      isDynamic: false,
    };
  }
  if (
    ts.isExportDeclaration(node) &&
    node.moduleSpecifier !== undefined &&
    ts.isStringLiteral(node.moduleSpecifier)
  ) {
    return { specifier: node.moduleSpecifier.text, isTypeOnly: node.isTypeOnly, isDynamic: false };
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return { specifier: textOf(node.argument.literal), isTypeOnly: true, isDynamic: false };
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return { specifier: textOf(node.arguments[0]), isTypeOnly: false, isDynamic: true };
  }
  return null;
}

function isTypeOnlyClause(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const named = clause.namedBindings;
  return (
    clause.name === undefined &&
    named !== undefined &&
    ts.isNamedImports(named) &&
    named.elements.every((element) => element.isTypeOnly)
  );
}

function textOf(node: ts.Node | undefined): string {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : '(computed)';
}

function resolve(file: string, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  return posix.join(dirname(file), specifier).replace(/\.js(x?)$/, '.ts$1');
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(isDefaultKeyword);
}

function isDefaultKeyword(modifier: ts.Modifier): boolean {
  return modifier.kind === ts.SyntaxKind.DefaultKeyword;
}

const BARE = new Set(['process', 'setTimeout', 'setInterval', 'setImmediate']);
const MEMBERS = new Set([
  'Date.now',
  'Math.random',
  'performance.now',
  'AbortSignal.timeout',
  'globalThis.process',
]);

/** `new Date()` without arguments reads the clock, too. */
function readGlobal(node: ts.Node): string | null {
  if (ts.isPropertyAccessExpression(node)) {
    const name = node.getText();
    return MEMBERS.has(name) ? name : null;
  }
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && node.arguments?.length === 0) {
    return 'new Date()';
  }
  return ts.isIdentifier(node) && BARE.has(node.text) && isFreeValue(node) ? node.text : null;
}

/** Not the name of a property, of a member or of a declaration. */
function isFreeValue(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  return (
    !('name' in parent && parent.name === node) && !('propertyName' in parent && parent.propertyName === node)
  );
}
