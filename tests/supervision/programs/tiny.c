/* The smallest program: ends with 7, needs no library. */
void _start(void)
{
    __asm__ volatile("mov $60, %eax; mov $7, %edi; syscall");
}
