// matrix_cli.ts: determinant, transpose and product of small matrices given as "1,2;3,4".

enum Operation {
  Determinant,
  Transpose,
  Square,
}

type Matrix = number[][];

const parse = (text: string): Matrix => text.split(';').map((row) => row.split(',').map(Number));
const show = (m: Matrix): string => m.map((row) => row.map((v) => v.toString().padStart(6)).join('')).join('\n');
const transpose = (m: Matrix): Matrix => m[0]!.map((_, j) => m.map((row) => row[j]!));

function multiply(a: Matrix, b: Matrix): Matrix {
  const columns = transpose(b);
  return a.map((row) => columns.map((column) => row.reduce((sum, v, i) => sum + v * column[i]!, 0)));
}

function determinant(m: Matrix): number {
  if (m.length === 1) return m[0]![0]!;
  return m[0]!.reduce((sum, v, j) => {
    const minor = m.slice(1).map((row) => row.filter((_, k) => k !== j));
    return sum + (j % 2 === 0 ? 1 : -1) * v * determinant(minor);
  }, 0);
}

const [, , name = 'Determinant', text = '2,0,1;1,3,2;1,1,1'] = process.argv;
const operation = Operation[name as keyof typeof Operation];
const matrix = parse(text);

switch (operation) {
  case Operation.Determinant:
    console.log(determinant(matrix));
    break;
  case Operation.Transpose:
    console.log(show(transpose(matrix)));
    break;
  case Operation.Square:
    console.log(show(multiply(matrix, matrix)));
    break;
  default:
    console.error(`unknown operation: ${name}`);
    process.exit(64);
}
