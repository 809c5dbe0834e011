import ts from 'typescript'
import { nodesOf } from '../architecture/source-tree.ts'

/** One change to a source file: the text between two offsets becomes another. */
export interface Mutant {
  readonly start: number
  readonly end: number
  readonly text: string
}

const OPPOSITE: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.LessThanToken, '>='],
  [ts.SyntaxKind.LessThanEqualsToken, '>'],
  [ts.SyntaxKind.GreaterThanToken, '<='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '<'],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.QuestionQuestionToken, '&&'],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
  [ts.SyntaxKind.SlashToken, '*'],
  [ts.SyntaxKind.PercentToken, '*'],
])

function replaced(node: ts.Node, text: string): Mutant {
  return { start: node.getStart(), end: node.getEnd(), text }
}

function isType(node: ts.Node): boolean {
  return ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
}

function mutantsOf(node: ts.Node): readonly Mutant[] {
  if (ts.isIfStatement(node)) return [replaced(node.expression, 'false'), replaced(node.expression, 'true')]
  if (ts.isConditionalExpression(node)) return [replaced(node.condition, 'true'), replaced(node.condition, 'false')]
  if (ts.isBinaryExpression(node)) {
    const opposite = OPPOSITE.get(node.operatorToken.kind)
    return opposite === undefined ? [] : [replaced(node.operatorToken, opposite)]
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [replaced(node, node.operand.getText())]
  if (ts.isReturnStatement(node) && node.expression !== undefined) return [replaced(node.expression, 'undefined')]
  if (ts.isExpressionStatement(node) || ts.isThrowStatement(node)) return [replaced(node, ';')]
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body))
    return [replaced(node.body, 'true'), replaced(node.body, 'false'), replaced(node.body, 'undefined')]
  if (ts.isSpreadAssignment(node) || ts.isPropertyAssignment(node)) return [replaced(node, '...{}')]
  if (ts.isShorthandPropertyAssignment(node)) return [replaced(node, '...{}')]
  if (ts.isSpreadElement(node)) return [replaced(node, '...[]')]
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0)
    return [replaced(node, '[]'), ...node.elements.map((element) => replaced(element, '...[]'))]
  if (ts.isCallExpression(node) && node.arguments.length > 0)
    return node.arguments.map((part) => replaced(part, 'undefined'))
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [replaced(node, 'false')]
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [replaced(node, 'true')]
  if (ts.isBigIntLiteral(node)) return [replaced(node, `(${node.getText()} + 1n)`)]
  if (ts.isNumericLiteral(node)) return [replaced(node, `(${node.getText()} + 1)`)]
  if (ts.isRegularExpressionLiteral(node)) return [replaced(node, '/(?!)/'), replaced(node, '/(?:)/')]
  if (ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)) return [replaced(node, "'mutant'")]
  if (ts.isStringLiteral(node) && !ts.isPropertyAssignment(node.parent)) return [replaced(node, "'mutant'")]
  if (ts.isStringLiteral(node) && ts.isPropertyAssignment(node.parent) && node.parent.initializer === node)
    return [replaced(node, "'mutant'")]
  return []
}

/** Whether a change takes a decision away: such changes are tried first. */
function isDecision(node: ts.Node): boolean {
  return ts.isIfStatement(node) || ts.isReturnStatement(node) || ts.isThrowStatement(node) || ts.isArrowFunction(node)
}

/** Every small change to a declaration: what a careless hand might do to it. */
export function mutate(declaration: ts.Node): readonly Mutant[] {
  const types = new Set(nodesOf(declaration).filter(isType).flatMap(nodesOf))
  const nodes = nodesOf(declaration).filter((node) => !types.has(node))
  return [...nodes.filter(isDecision), ...nodes.filter((node) => !isDecision(node))].flatMap(mutantsOf)
}
