/*
 * fake-camera: a GigE Vision camera of Aravis at an address of this machine, for tests: fake-camera ADDRESS SERIAL.
 * It exits at the end of its standard input.
 */
#include <arv.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count < 3) return 64;
    ArvGvFakeCamera *camera = arv_gv_fake_camera_new(words[1], words[2]);
    char byte;
    if (!arv_gv_fake_camera_is_running(camera)) return 69;
    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0) {}
    g_object_unref(camera);
    return 0;
}
