import ts from 'typescript'
import { nodesOf, placeOf } from './source-tree.ts'

/** A rule about syntax: where it holds, and the nodes that break it. */
interface SyntaxRule {
  readonly governs: (path: string) => boolean
  readonly find: (file: ts.SourceFile) => readonly ts.Node[]
}

const everywhere = (path: string): boolean => path.startsWith('src/') || path.startsWith('adapters/')
const pureCode = (path: string): boolean => path.startsWith('src/') && !path.startsWith('src/runtime/')

function nodesWhere(breaks: (node: ts.Node) => boolean): SyntaxRule['find'] {
  return (file) => nodesOf(file).filter(breaks)
}

function statementsWhere(breaks: (statement: ts.Statement) => boolean): SyntaxRule['find'] {
  return (file) => file.statements.filter(breaks)
}

function hasModifier(node: ts.Node, kind: ts.SyntaxKind): boolean {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node)?.some((modifier) => modifier.kind === kind) ?? false)
}

/** A value that is called `name`, not a type, a member or a property of that name. */
function isValueNamed(node: ts.Node, name: string): node is ts.Identifier {
  if (!ts.isIdentifier(node) || node.text !== name) return false
  const { parent } = node
  if (ts.isTypeReferenceNode(parent) || ts.isQualifiedName(parent)) return false
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  return !(ts.isPropertyAssignment(parent) && parent.name === node)
}

// The few harmless uses are named and all others refused, so that `const { now } = Date` does not slip through.
function isAmbientTime(node: ts.Node): boolean {
  if (!isValueNamed(node, 'Date')) return false
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.name.text !== 'UTC' && parent.name.text !== 'parse'
  if (ts.isNewExpression(parent)) return (parent.arguments?.length ?? 0) === 0
  return !(ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword)
}

function isAmbientRandomness(node: ts.Node): boolean {
  if (!isValueNamed(node, 'Math')) return false
  return !ts.isPropertyAccessExpression(node.parent) || node.parent.name.text === 'random'
}

function readsMember(node: ts.Node, object: string | undefined, member: string): boolean {
  if (ts.isPropertyAccessExpression(node)) {
    return (
      node.name.text === member &&
      (object === undefined || (ts.isIdentifier(node.expression) && node.expression.text === object))
    )
  }
  return (
    ts.isElementAccessExpression(node) &&
    ts.isStringLiteralLike(node.argumentExpression) &&
    node.argumentExpression.text === member &&
    (object === undefined || (ts.isIdentifier(node.expression) && node.expression.text === object))
  )
}

function isCast(node: ts.Node): boolean {
  if (ts.isTypeAssertionExpression(node)) return true
  return ts.isAsExpression(node) && !ts.isConstTypeReference(node.type)
}

function assertsPresence(node: ts.Node): boolean {
  if (ts.isNonNullExpression(node)) return true
  return (ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)) && node.exclamationToken !== undefined
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true
  if (ts.isExportSpecifier(node)) return node.name.text === 'default'
  return ts.isStatement(node) && hasModifier(node, ts.SyntaxKind.DefaultKeyword)
}

function isOtherClass(node: ts.Node): boolean {
  if (!ts.isClassLike(node)) return false
  const parent = node.heritageClauses?.find((clause) => clause.token === ts.SyntaxKind.ExtendsKeyword)?.types[0]
  return parent === undefined || !parent.expression.getText().endsWith('Error')
}

function isReassignable(statement: ts.Statement): boolean {
  return ts.isVariableStatement(statement) && (statement.declarationList.flags & ts.NodeFlags.Const) === 0
}

/** Whether an annotation is read-only, as it stands or as an alias of the same file says. */
function isReadonlyType(type: ts.TypeNode | undefined): boolean {
  if (type === undefined) return false
  if (ts.isTypeOperatorNode(type)) return type.operator === ts.SyntaxKind.ReadonlyKeyword
  if (!ts.isTypeReferenceNode(type)) return false
  const name = type.typeName.getText()
  const alias = type
    .getSourceFile()
    .statements.find((statement) => ts.isTypeAliasDeclaration(statement) && statement.name.text === name)
  return (
    /^Readonly(?:Set|Map|Array)?$/.test(name) ||
    (alias !== undefined && ts.isTypeAliasDeclaration(alias) && isReadonlyType(alias.type))
  )
}

/** A collection that can grow: `new Map`, an array literal, an empty object; not one that is read-only by type or frozen. */
function isMutableCollection(value: ts.Expression): boolean {
  if (ts.isNewExpression(value)) return /^(?:Weak)?(?:Map|Set)$|^Array$/.test(value.expression.getText())
  if (ts.isArrayLiteralExpression(value)) return true
  if (ts.isObjectLiteralExpression(value)) return value.properties.length === 0
  return ts.isCallExpression(value) && /^(?:Object\.create|Array\.from)$/.test(value.expression.getText())
}

function holdsMutableCollection(statement: ts.Statement): boolean {
  return (
    ts.isVariableStatement(statement) &&
    statement.declarationList.declarations.some(
      ({ type, initializer }) => initializer !== undefined && !isReadonlyType(type) && isMutableCollection(initializer),
    )
  )
}

function isDeclaration(statement: ts.Statement): boolean {
  return ts.isDeclarationStatement(statement) || ts.isVariableStatement(statement)
}

function awaitsAtTopLevel(node: ts.Node): boolean {
  if (!ts.isAwaitExpression(node) && !(ts.isForOfStatement(node) && node.awaitModifier !== undefined)) return false
  return ts.findAncestor(node, ts.isFunctionLike) === undefined
}

function isAsynchronous(node: ts.Node): boolean {
  if (hasModifier(node, ts.SyntaxKind.AsyncKeyword) || ts.isAwaitExpression(node)) return true
  return ts.isIdentifier(node) && node.text === 'Promise'
}

function isNotAnInterface(statement: ts.Statement): boolean {
  return !(
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isImportDeclaration(statement)
  )
}

/** Every rule by its name. */
export const SYNTAX_RULES = {
  'the time comes from the Clock port': { governs: pureCode, find: nodesWhere(isAmbientTime) },
  'randomness comes from the Cryptography port': { governs: pureCode, find: nodesWhere(isAmbientRandomness) },
  'cryptography comes from its port': {
    governs: pureCode,
    find: nodesWhere((node) => readsMember(node, undefined, 'subtle')),
  },
  'timers come from the Clock port': {
    governs: pureCode,
    find: nodesWhere((node) => readsMember(node, 'AbortSignal', 'timeout')),
  },
  'no environment variable is read': {
    governs: (path) => path.startsWith('src/'),
    find: nodesWhere(
      (node) =>
        readsMember(node, 'process', 'env') || readsMember(node, 'Deno', 'env') || readsMember(node, 'Bun', 'env'),
    ),
  },
  'no any': { governs: everywhere, find: nodesWhere((node) => node.kind === ts.SyntaxKind.AnyKeyword) },
  'no cast': { governs: everywhere, find: nodesWhere(isCast) },
  'no non-null assertion': { governs: everywhere, find: nodesWhere(assertsPresence) },
  'no enum': { governs: everywhere, find: nodesWhere(ts.isEnumDeclaration) },
  'no namespace': { governs: everywhere, find: nodesWhere(ts.isModuleDeclaration) },
  'no decorator': { governs: everywhere, find: nodesWhere(ts.isDecorator) },
  'no default export': { governs: everywhere, find: nodesWhere(isDefaultExport) },
  'classes are errors': { governs: everywhere, find: nodesWhere(isOtherClass) },
  'no reassignable variable of a module': { governs: everywhere, find: statementsWhere(isReassignable) },
  'no mutable collection of a module': { governs: everywhere, find: statementsWhere(holdsMutableCollection) },
  'no top-level side effect': {
    governs: everywhere,
    find: (file) => [
      ...file.statements.filter((statement) => !isDeclaration(statement)),
      ...nodesOf(file).filter(awaitsAtTopLevel),
    ],
  },
  'protocol is never asynchronous': {
    governs: (path) => path.startsWith('src/protocol/'),
    find: nodesWhere(isAsynchronous),
  },
  'ports are interfaces': { governs: (path) => path.startsWith('src/ports/'), find: statementsWhere(isNotAnInterface) },
  'index.ts re-exports only': {
    governs: (path) => path === 'src/index.ts',
    find: statementsWhere(
      (statement) => !(ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined),
    ),
  },
} satisfies Readonly<Record<string, SyntaxRule>>

/** The name of a rule. */
export type SyntaxRuleName = keyof typeof SYNTAX_RULES

/** Every place where a rule is broken. */
export function findSyntaxViolations(name: SyntaxRuleName, files: readonly ts.SourceFile[]): readonly string[] {
  const rule: SyntaxRule = SYNTAX_RULES[name]
  return files.filter((file) => rule.governs(file.fileName)).flatMap((file) => rule.find(file).map(placeOf))
}
