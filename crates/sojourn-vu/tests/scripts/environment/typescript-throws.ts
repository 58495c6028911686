// Row: 8.1 source maps: an error in TypeScript is where its author wrote it
interface Order {
  id: number;
}

type Many = {
  orders: Order[];
};

export default function (): void {
  const many: Many = { orders: [] };
  throw new Error(`no order among ${many.orders.length}`);
}
